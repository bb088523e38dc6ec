/* SPDX-License-Identifier: 0BSD */
/* Computed torque on the generated model of the Orthoglide.
 *
 * `control` is what a real-time loop would call every millisecond. `main` lets the full model stand
 * in for the machine: each line of standard input is one sample (time, positions, rates), each line
 * of standard output the three forces. */
#include "orthoglide.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AXES ORTHOGLIDE_N_RIGID

/* One pair of gains for all axes, chosen for 30 rad/s on about 2 kg. */
static const double stiffness = 1800.0; /* [N/m] */
static const double damping = 120.0;    /* [N s/m] */

/* The path: each axis swings about the middle of its range, the axes out of step. It fades in over
 * half a second so that the machine can start at rest. */
static void reference(double time, double position[], double rate[], double accel[])
{
    const double frequency = 9.0; /* [rad/s] */
    const double fade = 0.5;      /* [s] */
    double u = time < fade ? time / fade : 1.0;
    double a = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
    double a1 = time < fade ? 30.0 * u * u * (1.0 - u) * (1.0 - u) / fade : 0.0;
    double a2 = time < fade ? 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / (fade * fade) : 0.0;

    for (int k = 0; k < AXES; ++k) {
        double phase = frequency * time + 2.1 * k;
        double s = 0.12 * sin(phase);
        double s1 = 0.12 * frequency * cos(phase);
        double s2 = -frequency * frequency * s;

        position[k] = 0.09 + a * s;
        rate[k] = a1 * s + a * s1;
        accel[k] = a2 * s + 2.0 * a1 * s1 + a * s2;
    }
}

static int control(int use_model, double time, const double theta[], const double rate[], double force[])
{
    double wanted[AXES], wanted_rate[AXES], wanted_accel[AXES];
    int status = ORTHOGLIDE_OK;

    reference(time, wanted, wanted_rate, wanted_accel);
    for (int k = 0; k < AXES; ++k) {
        force[k] = 0.0;
    }
    if (use_model) {
        status = orthoglide_inverse_dynamics(theta, rate, wanted_accel, force);
    }
    for (int k = 0; k < AXES; ++k) {
        force[k] += stiffness * (wanted[k] - theta[k]) + damping * (wanted_rate[k] - rate[k]);
    }
    return status;
}

int main(int argc, char **argv)
{
    const int use_model = argc > 1 && strcmp(argv[1], "model") == 0;
    double time, theta[AXES], rate[AXES], force[AXES];

    while (scanf("%lf %lf %lf %lf %lf %lf %lf", &time, &theta[0], &theta[1], &theta[2], &rate[0],
                 &rate[1], &rate[2]) == 7) {
        double wanted[AXES], wanted_rate[AXES], wanted_accel[AXES];

        if (control(use_model, time, theta, rate, force) > ORTHOGLIDE_OK) {
            return 1;
        }
        reference(time, wanted, wanted_rate, wanted_accel);
        printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", force[0], force[1], force[2], wanted[0],
               wanted[1], wanted[2]);
        fflush(stdout);
    }
    return 0;
}
