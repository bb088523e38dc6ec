/* Calls of all external functions without arguments, without results, with NaN and with huge numbers. */
#include "four_bar_casadi.c"

#include <stdlib.h>

typedef int (*call)(const double **, double **, casadi_int *, double *, int);
typedef int (*work)(casadi_int *, casadi_int *, casadi_int *, casadi_int *);
typedef const casadi_int *(*pattern)(casadi_int);
typedef const char *(*name)(casadi_int);

#define ONE(f) { f, f##_work, f##_sparsity_out, f##_name_in }
#define ALL(f) ONE(four_bar_casadi_##f), ONE(jac_four_bar_casadi_##f), ONE(fwd1_four_bar_casadi_##f), \
    ONE(adj1_four_bar_casadi_##f)

static const struct { call f; work sizes; pattern out; name in; } functions[] = {
    ALL(inverse_dynamics), ALL(forward_dynamics), ALL(step), ALL(outputs)
};

static int try_all(int which)
{
    const call f = functions[which].f;
    casadi_int n_arg, n_res, n_iw, n_w;
    double numbers[2 * FOUR_BAR_N];
    int failed = functions[which].sizes(&n_arg, &n_res, &n_iw, &n_w);
    const double **arg = calloc((size_t)n_arg, sizeof *arg);
    double **res = calloc((size_t)n_res, sizeof *res);
    double *w = malloc((size_t)n_w * sizeof *w);

    failed |= f(arg, res, NULL, w, 0) != 0;
    for (casadi_int i = 0; i < n_res; ++i) {
        const casadi_int *sizes = functions[which].out(i);
        res[i] = malloc((size_t)(sizes[0] * sizes[1]) * sizeof *res[i]);
    }
    failed |= f(arg, res, NULL, w, 0) != 0;
    arg[0] = numbers;
    for (int i = 0; i < 2 * FOUR_BAR_N; ++i) {
        numbers[i] = NAN;
    }
    failed |= f(arg, res, NULL, w, 0) == 0;
    for (int i = 0; i < 2 * FOUR_BAR_N; ++i) {
        numbers[i] = 1e300;
    }
    failed |= f(arg, res, NULL, w, 0) == 0;
    failed |= (functions[which].in(-1) != NULL) || (functions[which].in(n_arg) != NULL);
    failed |= (functions[which].out(-1) != NULL) || (functions[which].out(n_res) != NULL);
    for (casadi_int i = 0; i < n_res; ++i) {
        free(res[i]);
    }
    free(arg);
    free(res);
    free(w);
    return failed;
}

int main(void)
{
    for (int i = 0; i < (int)(sizeof functions / sizeof functions[0]); ++i) {
        if (try_all(i)) {
            return i + 1;
        }
    }
    return 0;
}
