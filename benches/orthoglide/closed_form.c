#include "closed_form.h"

#include <math.h>

static const double LENGTH = 0.45;
static const double SLIDER = 0.5;
static const double ROD = 0.4;
static const double EFFECTOR = 0.8;
static const double GRAVITY = 9.81;

/*
 * Sliders s_i = (theta_i - L) e_i; the effector p is at the distance L of all three. With the rows
 * p - s_i of A and B = diag(p_i - s_i), A p' = B theta'. A slender rod between v1 and v2 has
 * T = m/6 (v1.v1 + v1.v2 + v2.v2), so masses are constant in (theta, p), and forces on p act on
 * theta through B A^-T.
 */
int closed_form_inverse_dynamics(const double theta[3], const double rate[3], const double accel[3],
                                 double force[3])
{
    double s[3], d[3], p[3], v[3], a[3], right[3], f[3], inverse[3][3], row[3][3];
    double qa = 0.0, qb = -1.0, qc = 0.0;

    for (int i = 0; i < 3; ++i) {
        s[i] = theta[i] - LENGTH;
        d[i] = (s[i] * s[i]) - (LENGTH * LENGTH);
    }
    /* p_i = (q + d_i) / (2 s_i) with q = p.p. */
    for (int i = 0; i < 3; ++i) {
        const double inverse_square = 1.0 / (s[i] * s[i]);
        qa += 0.25 * inverse_square;
        qb += 0.5 * d[i] * inverse_square;
        qc += 0.25 * d[i] * d[i] * inverse_square;
    }
    const double discriminant = (qb * qb) - (4.0 * qa * qc);
    if (!(discriminant >= 0.0)) {
        return 1;
    }
    const double q = 2.0 * qc / (sqrt(discriminant) - qb);
    for (int i = 0; i < 3; ++i) {
        p[i] = (q + d[i]) / (2.0 * s[i]);
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            row[i][j] = p[j];
        }
        row[i][i] -= s[i];
    }
    /* Columns of the inverse are cross products of the rows over the determinant. */
    for (int i = 0; i < 3; ++i) {
        const double *b = row[(i + 1) % 3];
        const double *c = row[(i + 2) % 3];
        inverse[0][i] = (b[1] * c[2]) - (b[2] * c[1]);
        inverse[1][i] = (b[2] * c[0]) - (b[0] * c[2]);
        inverse[2][i] = (b[0] * c[1]) - (b[1] * c[0]);
    }
    const double determinant = (row[0][0] * inverse[0][0]) + (row[0][1] * inverse[1][0])
        + (row[0][2] * inverse[2][0]);
    if (determinant == 0.0) {
        return 1;
    }
    const double scale = 1.0 / determinant;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            inverse[i][j] *= scale;
        }
    }
    for (int i = 0; i < 3; ++i) {
        v[i] = 0.0;
        for (int j = 0; j < 3; ++j) {
            v[i] += inverse[i][j] * row[j][j] * rate[j];
        }
    }
    const double square = (v[0] * v[0]) + (v[1] * v[1]) + (v[2] * v[2]);
    for (int i = 0; i < 3; ++i) {
        right[i] = (row[i][i] * accel[i]) - (square - (2.0 * rate[i] * v[i]) + (rate[i] * rate[i]));
    }
    for (int i = 0; i < 3; ++i) {
        a[i] = 0.0;
        for (int j = 0; j < 3; ++j) {
            a[i] += inverse[i][j] * right[j];
        }
        f[i] = ((EFFECTOR + ROD) * a[i]) + (ROD / 6.0 * accel[i]);
    }
    f[2] += GRAVITY * (EFFECTOR + (1.5 * ROD));
    for (int i = 0; i < 3; ++i) {
        force[i] = ((SLIDER + (ROD / 3.0)) * accel[i]) + (ROD / 6.0 * a[i]);
        for (int j = 0; j < 3; ++j) {
            force[i] += row[i][i] * inverse[j][i] * f[j];
        }
    }
    force[2] += GRAVITY * (SLIDER + (0.5 * ROD));
    return 0;
}
