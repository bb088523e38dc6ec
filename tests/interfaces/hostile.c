/* Hostile calls of an FMU: errors, never a crash. Compiled with FMI2 or FMI3 sources and sanitizers. */
#if defined(TEST_FMI2)
#include "fmi2.c"
static fmi2CallbackFunctions functions;
static void *make(int steps)
{
    return fmi2Instantiate("x", steps ? fmi2CoSimulation : fmi2ModelExchange, FMU_TOKEN, "", &functions, 0, 1);
}
static int begin(void *c)
{
    return (int)fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0) | (int)fmi2EnterInitializationMode(c)
        | (int)fmi2ExitInitializationMode(c);
}
static int get(void *c, unsigned r, double *v) { return (int)fmi2GetReal(c, &r, 1, v); }
static int set(void *c, unsigned r, double v) { return (int)fmi2SetReal(c, &r, 1, &v); }
static int step(void *c, double t, double h) { return (int)fmi2DoStep(c, t, h, 1); }
static int along(void *c, unsigned u, unsigned k, double s, double *o)
{
    return (int)fmi2GetDirectionalDerivative(c, &u, 1, &k, 1, &s, o);
}
static int save(void *c, void **s) { return (int)fmi2GetFMUstate(c, s); }
static int drop(void *c, void **s) { return (int)fmi2FreeFMUstate(c, s); }
static int pack(void *c, void *s, unsigned char *b, size_t n) { return (int)fmi2SerializeFMUstate(c, s, (char *)b, n); }
static int unpack(void *c, const unsigned char *b, size_t n, void **s)
{
    return (int)fmi2DeSerializeFMUstate(c, (const char *)b, n, s);
}
#define FREE fmi2FreeInstance
#else
#include "fmi3.c"
static void *make(int steps)
{
    return steps ? fmi3InstantiateCoSimulation("x", FMU_TOKEN, "", 0, 1, 0, 0, NULL, 0, NULL, NULL, NULL)
                 : fmi3InstantiateModelExchange("x", FMU_TOKEN, "", 0, 1, NULL, NULL);
}
static int begin(void *c)
{
    return (int)fmi3EnterInitializationMode(c, 0, 0.0, 0.0, 0, 0.0) | (int)fmi3ExitInitializationMode(c);
}
static int get(void *c, unsigned r, double *v) { return (int)fmi3GetFloat64(c, &r, 1, v, 1); }
static int set(void *c, unsigned r, double v) { return (int)fmi3SetFloat64(c, &r, 1, &v, 1); }
static int step(void *c, double t, double h)
{
    fmi3Boolean a, b, d;
    fmi3Float64 last;
    return (int)fmi3DoStep(c, t, h, 1, &a, &b, &d, &last);
}
static int along(void *c, unsigned u, unsigned k, double s, double *o)
{
    return (int)fmi3GetDirectionalDerivative(c, &u, 1, &k, 1, &s, 1, o, 1)
        | (int)fmi3GetAdjointDerivative(c, &u, 1, &k, 1, &s, 1, o, 1);
}
static int save(void *c, void **s) { return (int)fmi3GetFMUState(c, s); }
static int drop(void *c, void **s) { return (int)fmi3FreeFMUState(c, s); }
static int pack(void *c, void *s, unsigned char *b, size_t n) { return (int)fmi3SerializeFMUState(c, s, b, n); }
static int unpack(void *c, const unsigned char *b, size_t n, void **s)
{
    return (int)fmi3DeserializeFMUState(c, b, n, s);
}
#define FREE fmi3FreeInstance
#endif

#include <stdio.h>

static int failed;

static void expect(int holds, const char *what)
{
    if (!holds) {
        (void)printf("not so: %s\n", what);
        failed = 1;
    }
}

int main(void)
{
    static const double bad[] = { 1.0e308, -1.0e308, 1.0e-320 };
    double nan = 0.0;
    double value = 0.0;
    void *c = make(1);
    void *state = NULL;
    void *other = NULL;
    unsigned char bytes[FMU_SERIAL];

    nan = nan / nan;
    expect(c != NULL, "an instance is made");
    expect(step(c, 0.0, 1e-3) == FMU_ERROR, "no step before initialization");
    expect(begin(c) == FMU_OK, "initialization");
    for (unsigned r = 0U; r < FMU_VR_END + 50U; ++r) {
        const int status = get(c, r, &value);
        expect((status == FMU_OK) == (r < FMU_VR_END), "variables that are there can be read");
        expect(set(c, r, nan) == FMU_ERROR, "NaN is refused");
    }
    for (unsigned r = 0xfffffff0U; r != 0U; ++r) {
        expect(get(c, r, &value) == FMU_ERROR, "far references are refused");
        expect(set(c, r, 1.0) == FMU_ERROR, "far references are not set");
        expect(along(c, r, FMU_VR_U, 1.0, &value) == FMU_ERROR, "far unknowns are refused");
        expect(along(c, FMU_VR_STATUS, r, 1.0, &value) == FMU_ERROR, "far knowns are refused");
    }
    expect(step(c, 0.0, 0.0) == FMU_ERROR, "a step of zero is refused");
    expect(step(c, 0.0, -1e-3) == FMU_ERROR, "a negative step is refused");
    expect(step(c, 0.0, nan) == FMU_ERROR, "a step of NaN is refused");
    expect(step(c, nan, 1e-3) == FMU_ERROR, "a start of NaN is refused");
    expect(step(c, 0.0, 1e300) == FMU_ERROR, "an endless step is refused");
    expect(step(c, 0.0, 1e-3) == FMU_OK, "a step is done");
    expect(save(c, &state) == FMU_OK, "a state is saved");
    expect(pack(c, state, bytes, sizeof bytes - 1U) == FMU_ERROR, "few bytes are refused");
    expect(pack(c, state, bytes, sizeof bytes) == FMU_OK, "a state is serialised");
    for (size_t i = 0U; i < sizeof bytes; ++i) {
        bytes[i] ^= 0xffU;
        (void)unpack(c, bytes, sizeof bytes, &other);
        bytes[i] ^= 0xffU;
    }
    expect(unpack(c, bytes, 10U, &other) == FMU_ERROR, "a piece of a state is refused");
    expect(unpack(c, bytes, sizeof bytes, &other) == FMU_OK, "a state is read");
    expect(memcmp(state, other, sizeof(fmu_state)) == 0, "it is the same");
    /* Far from the domain and with forces beyond all measure: a status, no crash. */
    for (size_t i = 0U; i < sizeof bad / sizeof bad[0]; ++i) {
        for (int u = 0; u < FMU_N_U; ++u) {
            (void)set(c, FMU_VR_U + (unsigned)u, bad[i]);
        }
        (void)step(c, 0.0, 1e-4);
        for (unsigned r = 0U; r < FMU_VR_END; ++r) {
            (void)get(c, r, &value);
            (void)along(c, r, FMU_VR_U, 1.0, &value);
        }
    }
    expect(drop(c, &state) == FMU_OK, "a state is freed");
    expect(drop(c, &other) == FMU_OK, "the other, too");
    FREE(c);
    expect(get(NULL, 0U, &value) == FMU_ERROR, "no instance");
    expect(step(NULL, 0.0, 1e-3) == FMU_ERROR, "no instance to step");
    FREE(NULL);
    c = make(0);
    expect(begin(c) == FMU_OK, "model exchange begins");
    expect(step(c, 0.0, 1e-3) == FMU_ERROR, "model exchange does not step");
    FREE(c);
    return failed;
}
