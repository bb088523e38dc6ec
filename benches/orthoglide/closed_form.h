/* Inverse dynamics of the rigid Orthoglide of data/orthoglide.toml, written by hand. */
#ifndef CLOSED_FORM_H
#define CLOSED_FORM_H

#define CLOSED_FORM_N 3
#define CLOSED_FORM_THETA_MIN { -0.08, -0.08, -0.08 }
#define CLOSED_FORM_THETA_MAX { 0.26, 0.26, 0.26 }

/* Slider forces for positions, rates and accelerations of the sliders; 0 on success. */
int closed_form_inverse_dynamics(const double theta[3], const double rate[3], const double accel[3],
                                 double force[3]);

#endif
