/* SPDX-License-Identifier: 0BSD */
/* Active damping of the Ralf-like manipulator by inertia forces (thesis 6.3).
 *
 * A slow loop moves the two cylinders along their references. A fast loop finds the rates of the two
 * flexible modes from an accelerometer at the tip and moves the cylinders so that the inertia forces
 * oppose them: M_dt theta'' = G eta', with M_dt and the stiffness taken from the generated model at
 * the present configuration.
 *
 * `control` is what a real-time loop would call every millisecond. `main` lets the full model stand
 * in for the machine: a line of standard input is one sample (time, extensions, rates, accelerometer
 * in tip axes), a line of standard output the two valve inputs. */
#include "ralf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AXES RALF_N_RIGID
#define MODES RALF_N_MODAL

static const double period = 1e-3;                  /* [s] */
static const double valve[AXES] = {0.0236, 0.0265}; /* cylinder rate per input [m/s/V] */
static const double leak[AXES] = {3.5e5, 3.0e5};    /* force per missing rate [N s/m] */
static const double bandwidth = 8.0;                /* of the slow loop, a third of mode 1 [rad/s] */
static const double ratio = 0.25;                   /* damping ratio asked of both modes */
static const double corner = 1.0;                   /* below it the mode observer is silent [rad/s] */
static const double washout = 3.0;                  /* the fast loop forgets what it asked for [rad/s] */

static const double from[AXES] = {-0.02, -0.02};
static const double to[AXES] = {0.02, 0.01};
static const double duration = 0.4; /* [s] */

/* Filters that keep what happens near the resonances. */
typedef struct {
    double velocity[2][2]; /* of the tip along x and z: leaky integral, then high pass */
    double rigid[2][2];    /* the part of it that the cylinders' rates explain: high pass twice */
    double command[AXES];  /* rate that the fast loop asks for */
} filters_t;

static void reference(double time, double position[], double rate[])
{
    const double pi = 3.14159265358979323846;
    double u = time < duration ? time / duration : 1.0;

    for (int k = 0; k < AXES; ++k) {
        position[k] = from[k] + (to[k] - from[k]) * (u - sin(2.0 * pi * u) / (2.0 * pi));
        rate[k] = (to[k] - from[k]) * (1.0 - cos(2.0 * pi * u)) / duration;
    }
}

/* x with A x = b; zero where A is singular. */
static void solve(double a[2][2], const double b[2], double x[2])
{
    const double determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0];

    x[0] = 0.0;
    x[1] = 0.0;
    if (determinant != 0.0) {
        x[0] = (b[0] * a[1][1] - b[1] * a[0][1]) / determinant;
        x[1] = (b[1] * a[0][0] - b[0] * a[1][0]) / determinant;
    }
}

/* First-order high pass; the state follows the slow part. */
static double high_pass(double *slow, double value)
{
    const double out = value - *slow;

    *slow += period * corner * out;
    return out;
}

/* Desired cylinder accelerations from what the sensors say. */
static void inertial_damping(filters_t *f, const ralf_coefficients_t *model, const ralf_output_t *tip,
                             const double rate[], const double accelerometer[], double accel[])
{
    double motion[2], jacobian[2][2], modal[2], coupling[2][2], damped[2];
    double k[2][2], root, scale;

    for (int i = 0; i < 2; ++i) {
        const int row = 2 * i; /* x and z */
        double a = 0.0;
        double rigid = 0.0;

        for (int j = 0; j < 3; ++j) {
            a += tip->rotation[3 * row + j] * accelerometer[j];
        }
        for (int j = 0; j < AXES; ++j) {
            rigid += tip->jacobian[row * RALF_N + j] * rate[j];
        }
        f->velocity[i][0] += period * (a - corner * f->velocity[i][0]);
        motion[i] = high_pass(&f->velocity[i][1], f->velocity[i][0])
                    - high_pass(&f->rigid[i][1], high_pass(&f->rigid[i][0], rigid));
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < MODES; ++j) {
            jacobian[i][j] = tip->jacobian[2 * i * RALF_N + AXES + j];
            k[i][j] = model->stiffness[(AXES + i) * RALF_N + AXES + j];
            coupling[i][j] = model->mass[(AXES + i) * RALF_N + j];
        }
    }
    solve(jacobian, motion, modal);

    /* G = 2 ratio sqrt(K): the square root of a definite 2 x 2 matrix in closed form. */
    root = sqrt(k[0][0] * k[1][1] - k[0][1] * k[1][0]);
    scale = 2.0 * ratio / sqrt(k[0][0] + k[1][1] + 2.0 * root);
    damped[0] = scale * ((k[0][0] + root) * modal[0] + k[0][1] * modal[1]);
    damped[1] = scale * (k[1][0] * modal[0] + (k[1][1] + root) * modal[1]);
    solve(coupling, damped, accel);
}

static int control(filters_t *f, int damp, double time, const double theta[], const double rate[],
                   const double accelerometer[], double input[])
{
    const double rest[AXES] = {0.0, 0.0};
    const double eta[RALF_N] = {theta[0], theta[1], 0.0, 0.0};
    const double still[RALF_N] = {0.0, 0.0, 0.0, 0.0};
    double wanted[AXES], wanted_rate[AXES], hold[AXES], modal[MODES], accel[AXES];
    ralf_coefficients_t model;
    ralf_outputs_t outputs;
    int status = ralf_coefficients(theta, &model);

    if (status == RALF_OK) {
        status = ralf_outputs(eta, still, &outputs);
    }
    if (status == RALF_OK) {
        status = ralf_feedforward(theta, rest, rest, hold, modal);
    }
    if (status != RALF_OK) {
        return status;
    }
    reference(time, wanted, wanted_rate);
    inertial_damping(f, &model, &outputs.output[RALF_OUTPUT_TIP], rate, accelerometer, accel);
    for (int k = 0; k < AXES; ++k) {
        double speed = wanted_rate[k] + bandwidth * (wanted[k] - theta[k]) + hold[k] / leak[k];

        f->command[k] += period * (accel[k] - washout * f->command[k]);
        if (damp) {
            speed += f->command[k];
        }
        input[k] = speed / valve[k];
    }
    return RALF_OK;
}

/* At rest the accelerometer shows the weight alone: filters that know it start without a transient. */
static int start(filters_t *f, const double theta[], const double accelerometer[])
{
    const double eta[RALF_N] = {theta[0], theta[1], 0.0, 0.0};
    const double still[RALF_N] = {0.0, 0.0, 0.0, 0.0};
    ralf_outputs_t outputs;
    const int status = ralf_outputs(eta, still, &outputs);

    memset(f, 0, sizeof *f);
    for (int i = 0; i < 2; ++i) {
        double a = 0.0;

        for (int j = 0; j < 3; ++j) {
            a += outputs.output[RALF_OUTPUT_TIP].rotation[6 * i + j] * accelerometer[j];
        }
        f->velocity[i][0] = a / corner;
        f->velocity[i][1] = a / corner;
    }
    return status;
}

int main(int argc, char **argv)
{
    const int damp = argc > 1 && strcmp(argv[1], "damped") == 0;
    double time, theta[AXES], rate[AXES], accelerometer[3], input[AXES];
    filters_t filters;

    memset(&filters, 0, sizeof filters);

    while (scanf("%lf %lf %lf %lf %lf %lf %lf %lf", &time, &theta[0], &theta[1], &rate[0], &rate[1],
                 &accelerometer[0], &accelerometer[1], &accelerometer[2]) == 8) {
        if (time <= 0.0 && start(&filters, theta, accelerometer) != RALF_OK) {
            return 1;
        }
        if (control(&filters, damp, time, theta, rate, accelerometer, input) != RALF_OK) {
            return 1;
        }
        printf("%.17g %.17g\n", input[0], input[1]);
        fflush(stdout);
    }
    return 0;
}
