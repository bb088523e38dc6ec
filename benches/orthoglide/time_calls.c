/*
 * Times FUNCTION over random states in the middle part SPAN of the range of theta; prints the median
 * and the smallest time of a call.
 */
#define _POSIX_C_SOURCE 200112L
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STATES 512
#define ROUNDS 2001

static double theta[STATES][3], rate[STATES][3], accel[STATES][3];
static double times[ROUNDS];

/* A number between low and high. */
static double between(double low, double high)
{
    static unsigned long long state = 88172645463325252ULL;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return low + ((high - low) * ((double)(state >> 11) / 9007199254740992.0));
}

/* Processor time of this thread in nanoseconds: others may share the machine. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (1e9 * (double)t.tv_sec) + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    const double lower[3] = LOWER, upper[3] = UPPER;
    double sum = 0.0;

    for (int i = 0; i < STATES; ++i) {
        for (int k = 0; k < 3; ++k) {
            const double middle = 0.5 * (lower[k] + upper[k]);
            const double reach = 0.5 * SPAN * (upper[k] - lower[k]);

            theta[i][k] = between(middle - reach, middle + reach);
            rate[i][k] = between(-1.0, 1.0);
            accel[i][k] = between(-10.0, 10.0);
        }
    }
    for (int r = 0; r < ROUNDS; ++r) {
        const double start = now();
        for (int i = 0; i < STATES; ++i) {
            double force[3];
            if (FUNCTION(theta[i], rate[i], accel[i], force) != 0) {
                return 1;
            }
            sum += force[0] + force[1] + force[2];
        }
        times[r] = (now() - start) / STATES;
    }
    qsort(times, ROUNDS, sizeof times[0], compare);
    printf("%.2f %.2f %.9e\n", times[ROUNDS / 2], times[0], sum / ROUNDS / STATES);
    return 0;
}
