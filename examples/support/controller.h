/* SPDX-License-Identifier: 0BSD */
/* What a controller in a shared library defines for `library` in a scenario. */
#ifndef CONTROLLER_H
#define CONTROLLER_H

/* Before the first sample; a null pointer refuses. `setting` is the scenario's text. */
void *controller_init(double period, int inputs, int outputs, const char *setting);

/* One sample; a number other than zero ends the run. */
int controller_step(void *controller, double time, const double *input, double *output);

/* After the last sample. */
void controller_free(void *controller);

#endif
