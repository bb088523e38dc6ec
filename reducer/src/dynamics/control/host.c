/* SPDX-License-Identifier: 0BSD */
/* Runs a controller that is a shared library: one line of standard input is a sample (time, inputs),
 * one line of standard output the answer (outputs). C99 and POSIX; build with
 *
 *     cc -o host host.c -ldl
 *
 * host LIBRARY                                    loads it, looks for the three functions, ends
 * host LIBRARY PERIOD INPUTS OUTPUTS SETTING      runs it until the input ends
 *
 * The library defines
 *
 *     void *controller_init(double period, int inputs, int outputs, const char *setting);
 *     int controller_step(void *controller, double time, const double *input, double *output);
 *     void controller_free(void *controller);
 *
 * `controller_init` returns a null pointer, `controller_step` a number other than zero where it fails. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *(*init_t)(double, int, int, const char *);
typedef int (*step_t)(void *, double, const double *, double *);
typedef void (*free_t)(void *);

static init_t init;
static step_t step;
static free_t done;

/* A function of the library; its address is copied because C knows no conversion of object pointers. */
static int find(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);

    if (address == NULL) {
        fprintf(stderr, "it has no function `%s`\n", name);
        return 0;
    }
    memcpy(function, &address, size);
    return 1;
}

static int load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        const char *reason = dlerror();

        fprintf(stderr, "%s\n", reason != NULL ? reason : "it does not load");
        return 0;
    }
    return find(library, "controller_init", &init, sizeof init) &&
           find(library, "controller_step", &step, sizeof step) &&
           find(library, "controller_free", &done, sizeof done);
}

/* Numbers of one line; a line that ends too early ends the run. */
static int sample(double *values, int count)
{
    for (int i = 0; i < count; ++i) {
        if (scanf("%lf", &values[i]) != 1) {
            return 0;
        }
    }
    return 1;
}

static int run(FILE *answers, void *controller, double *values, int inputs, int outputs)
{
    double *output = values + 1 + inputs;

    while (sample(values, 1 + inputs)) {
        const int status = step(controller, values[0], values + 1, output);

        if (status != 0) {
            fprintf(stderr, "`controller_step` returned %d at t = %g s\n", status, values[0]);
            return 1;
        }
        for (int i = 0; i < outputs; ++i) {
            fprintf(answers, "%s%.17g", i > 0 ? " " : "", output[i]);
        }
        fputc('\n', answers);
        if (fflush(answers) != 0) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int inputs, outputs, own, status;
    double *values;
    FILE *answers;
    void *controller;

    if (argc < 2 || !load(argv[1])) {
        return 3;
    }
    if (argc < 6) {
        return 0;
    }
    inputs = atoi(argv[3]);
    outputs = atoi(argv[4]);
    values = calloc((size_t)(1 + inputs + outputs), sizeof *values);
    /* What the library itself prints must not pass for an answer. */
    own = dup(1);
    answers = own >= 0 && dup2(2, 1) >= 0 ? fdopen(own, "w") : NULL;
    if (values == NULL || answers == NULL) {
        fprintf(stderr, "no memory or no output\n");
        return 3;
    }
    controller = init(strtod(argv[2], NULL), inputs, outputs, argv[5]);
    if (controller == NULL) {
        fprintf(stderr, "`controller_init` refused\n");
        return 3;
    }
    status = run(answers, controller, values, inputs, outputs);
    done(controller);
    return status;
}
