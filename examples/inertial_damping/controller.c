/* SPDX-License-Identifier: 0BSD */
/* Active damping of the Ralf-like manipulator by inertia forces (thesis 6.3).
 *
 * A slow loop moves the two cylinders along their references, with the forces that the generated
 * model asks for. A fast loop compares an accelerometer at the tip with the motion that the model
 * expects, calls the rest vibration, and moves the cylinders so that the inertia forces oppose it:
 * M_dt theta'' = G eta', with M_dt and the stiffness taken from the model at the present
 * configuration.
 *
 * Where the model was generated with the observer of observer.toml, the setting "observed" takes the modes' rates from it
 * instead: an extended Kalman filter that predicts with the forces of the valves and corrects by extensions and
 * accelerometer, in the place of filters made by hand.
 *
 * `control` is what a real-time loop would call every millisecond. Models stand in for the machine in
 * two ways. As a program a line of standard input is one sample (time, extensions, rates, accelerometer
 * in tip axes), a line of standard output the two valve inputs. As a shared library, compiled with
 * CONTROLLER_LIBRARY, it is the block of scenario.toml. */
#include "ralf.h"

#ifdef CONTROLLER_LIBRARY
#include "controller.h"
#endif

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
static const double corner = 2.0;                   /* below it the accelerometer is not trusted [rad/s] */
static const double washout = 3.0;                  /* the fast loop forgets what it asked for [rad/s] */
static const double weight[3] = {0.0, 0.0, 9.81};   /* what an accelerometer at rest shows [m/s^2] */

static const double from[AXES] = {-0.02, -0.02};
static const double to[AXES] = {0.02, 0.01};
static const double duration = 0.4; /* [s] */

/* Motion that is wanted at one instant. */
typedef struct {
    double position[AXES];
    double rate[AXES];
    double accel[AXES];
} reference_t;

/* What the controller remembers from one call to the next. */
typedef struct {
    double velocity[2];    /* of the tip along x and z: measured when fast, modelled when slow */
    double modal[MODES];   /* flexible coordinates that the reference motion calls for */
    double bending[MODES]; /* vibration: flexible coordinates beyond those */
    double command[AXES];  /* rate that the fast loop asks for */
#ifdef RALF_OBSERVER_STATES
    ralf_observer_t observer;
    double input[AXES];    /* of the valves since the last sample */
#endif
} memory_t;

typedef enum { PLAIN, DAMPED, OBSERVED } setting_t;

static reference_t reference(double time)
{
    const double pi = 3.14159265358979323846;
    const double u = time < duration ? time / duration : 1.0;
    reference_t r;

    for (int k = 0; k < AXES; ++k) {
        const double way = to[k] - from[k];

        r.position[k] = from[k] + way * (u - sin(2.0 * pi * u) / (2.0 * pi));
        r.rate[k] = way * (1.0 - cos(2.0 * pi * u)) / duration;
        r.accel[k] = way * 2.0 * pi * sin(2.0 * pi * u) / (duration * duration);
    }
    return r;
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

/* Cylinder accelerations whose inertia forces damp vibration with these modal rates. */
static void damping_law(const ralf_coefficients_t *model, const double modal[], double accel[])
{
    double coupling[2][2], damped[2], k[2][2], root, scale;

    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < MODES; ++j) {
            k[i][j] = model->stiffness[(AXES + i) * RALF_N + AXES + j];
            coupling[i][j] = model->mass[(AXES + i) * RALF_N + j];
        }
    }
    /* G = 2 ratio sqrt(K): the square root of a definite 2 x 2 matrix in closed form. */
    root = sqrt(k[0][0] * k[1][1] - k[0][1] * k[1][0]);
    scale = 2.0 * ratio / sqrt(k[0][0] + k[1][1] + 2.0 * root);
    damped[0] = scale * ((k[0][0] + root) * modal[0] + k[0][1] * modal[1]);
    damped[1] = scale * (k[1][0] * modal[0] + (k[1][1] + root) * modal[1]);
    solve(coupling, damped, accel);
}

/* Modal rates of the vibration from an accelerometer. The tip moves with the velocity that cylinders and
 * quasi-static bending explain, and with that of the vibration: `tip` holds the former. */
static void filtered_rates(memory_t *m, const ralf_output_t *tip, const double accelerometer[], double modal[])
{
    double vibration[2], jacobian[2][2];

    for (int i = 0; i < 2; ++i) {
        const int row = 2 * i; /* x and z */
        double a = -weight[row];

        for (int j = 0; j < 3; ++j) {
            a += tip->rotation[3 * row + j] * accelerometer[j];
        }
        m->velocity[i] += period * (a - corner * (m->velocity[i] - tip->velocity[row]));
        vibration[i] = m->velocity[i] - tip->velocity[row];
        for (int j = 0; j < MODES; ++j) {
            jacobian[i][j] = tip->jacobian[row * RALF_N + AXES + j];
        }
    }
    solve(jacobian, vibration, modal);
    for (int i = 0; i < MODES; ++i) {
        m->bending[i] += period * (modal[i] - corner * m->bending[i]);
    }
}

#ifdef RALF_OBSERVER_STATES
/* The state of the model from extensions and accelerometer. A valve is viscous friction and a force that goes with
 * its input. */
static int observe(memory_t *m, double time, const double eta[], const double theta[], const double accelerometer[])
{
    ralf_params_t params = RALF_NOMINAL_PARAMS;
    const double readings[RALF_OBSERVER_SENSORS] = {theta[0], theta[1], accelerometer[0], accelerometer[2]};
    double force[RALF_N] = {0.0}, rest[RALF_N] = {0.0};
    int status;

    for (int k = 0; k < AXES; ++k) {
        params.viscous[k] += leak[k];
        force[k] = leak[k] * valve[k] * m->input[k];
    }
    if (time > 0.0) {
        status = ralf_observer_predict_p(&params, &m->observer, force);
    } else {
        status = ralf_observer_init(&m->observer, eta, rest, force);
    }
    /* What happens at the first sample is the start of the machine, not vibration. */
    if (status == RALF_OK && time > 0.0) {
        status = ralf_observer_update_p(&params, &m->observer, readings);
    }
    return status;
}
#endif

static int control(memory_t *m, setting_t mode, double time, const double theta[], const double rate[],
                   const double accelerometer[], double input[])
{
    const reference_t wanted = reference(time);
    double force[AXES], modal[MODES], vibration[MODES], accel[AXES];
    double eta[RALF_N], eta_rate[RALF_N];
    ralf_coefficients_t model;
    ralf_outputs_t outputs;
    int status = ralf_coefficients(theta, &model);

    if (status == RALF_OK) {
        status = ralf_feedforward(wanted.position, wanted.rate, wanted.accel, force, modal);
    }
    if (status != RALF_OK) {
        return status;
    }
    for (int k = 0; k < AXES; ++k) {
        eta[k] = theta[k];
        eta_rate[k] = rate[k];
    }
    for (int k = 0; k < MODES; ++k) {
        eta[AXES + k] = modal[k] + m->bending[k];
        eta_rate[AXES + k] = time > 0.0 ? (modal[k] - m->modal[k]) / period : 0.0;
        m->modal[k] = modal[k];
    }
    status = ralf_outputs(eta, eta_rate, &outputs);
    if (status != RALF_OK) {
        return status;
    }
    filtered_rates(m, &outputs.output[RALF_OUTPUT_TIP], accelerometer, vibration);
#ifdef RALF_OBSERVER_STATES
    if (mode == OBSERVED) {
        status = observe(m, time, eta, theta, accelerometer);
        for (int k = 0; k < MODES; ++k) {
            vibration[k] = m->observer.x[RALF_N + AXES + k] - eta_rate[AXES + k];
        }
    }
    if (status != RALF_OK) {
        return status;
    }
#endif
    damping_law(&model, vibration, accel);
    for (int k = 0; k < AXES; ++k) {
        double speed = wanted.rate[k] + bandwidth * (wanted.position[k] - theta[k]) + force[k] / leak[k];

        m->command[k] += period * (accel[k] - washout * m->command[k]);
        if (mode != PLAIN) {
            speed += m->command[k];
        }
        input[k] = speed / valve[k];
#ifdef RALF_OBSERVER_STATES
        m->input[k] = input[k];
#endif
    }
    return RALF_OK;
}

static setting_t setting_of(const char *setting)
{
    if (strcmp(setting, "observed") == 0) {
        return OBSERVED;
    }
    return strcmp(setting, "damped") == 0 ? DAMPED : PLAIN;
}

#ifdef CONTROLLER_LIBRARY

static struct {
    memory_t memory;
    setting_t mode;
} only;

void *controller_init(double sample_period, int inputs, int outputs, const char *setting)
{
    if (inputs != 2 * AXES + 3 || outputs != AXES || fabs(sample_period - period) > 1e-9) {
        return NULL;
    }
    memset(&only, 0, sizeof only);
    only.mode = setting_of(setting);
    return &only;
}

int controller_step(void *controller, double time, const double *input, double *output)
{
    (void)controller;
    return control(&only.memory, only.mode, time, input, input + AXES, input + 2 * AXES, output) ==
                   RALF_OK
               ? 0
               : 1;
}

void controller_free(void *controller)
{
    (void)controller;
}

#else

int main(int argc, char **argv)
{
    const setting_t mode = setting_of(argc > 1 ? argv[1] : "");
    double time, theta[AXES], rate[AXES], accelerometer[3], input[AXES];
    memory_t memory;

    memset(&memory, 0, sizeof memory);
    while (scanf("%lf %lf %lf %lf %lf %lf %lf %lf", &time, &theta[0], &theta[1], &rate[0], &rate[1],
                 &accelerometer[0], &accelerometer[1], &accelerometer[2]) == 8) {
        if (control(&memory, mode, time, theta, rate, accelerometer, input) != RALF_OK) {
            return 1;
        }
        printf("%.17g %.17g\n", input[0], input[1]);
        fflush(stdout);
    }
    return 0;
}

#endif
