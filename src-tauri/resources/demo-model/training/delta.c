// The middle of a Gated DeltaNet layer, between its two projections: causal convolution, SiLU, normalised keys and
// queries, decay, gated delta rule, gated norm; and the gradients of all of it. One thread, f32, one row after the
// other. model.py compiles and calls it; chunked_delta there is the same in torch and what the tests compare it with.
//
// Of each token `x` holds [q k v (CONV) | z (VALUE) | b (HV) | a (HV)].

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HK 4
#define HV 8
#define D 32
#define R (HV / HK)
#define KEY (HK * D)
#define VALUE (HV * D)
#define CONV (2 * KEY + VALUE)
#define WIDTH (CONV + VALUE + 2 * HV)
#define TAPS 4
#define EPS 1e-6f

typedef struct {
    const float *conv;   // [TAPS][CONV]
    const float *dt;     // [HV]
    const float *a_log;  // [HV]
    const float *norm;   // [D]
} Weights;

typedef struct {
    float *u, *sig;      // before SiLU and its sigmoid, [T][CONV]
    float *q, *k;        // normalised, [T][KEY]
    float *rq, *rk;      // reciprocal lengths, [T][HK]
    float *v;            // [T][VALUE]
    float *g, *beta;     // [T][HV]
    float *y;            // output of the rule, [T][VALUE]
} Row;

static float *take(float **arena, size_t n) {
    float *p = *arena;
    *arena += n;
    return p;
}

static Row row_of(float *arena, long T) {
    Row r;
    r.u = take(&arena, T * CONV);
    r.sig = take(&arena, T * CONV);
    r.q = take(&arena, T * KEY);
    r.k = take(&arena, T * KEY);
    r.rq = take(&arena, T * HK);
    r.rk = take(&arena, T * HK);
    r.v = take(&arena, T * VALUE);
    r.g = take(&arena, T * HV);
    r.beta = take(&arena, T * HV);
    r.y = take(&arena, T * VALUE);
    return r;
}

#define ROW_FLOATS(T) ((T) * (2 * CONV + 2 * KEY + 2 * HK + 2 * VALUE + 2 * HV))

static float dot(const float *a, const float *b, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

static float softplus(float x) { return x > 20 ? x : log1pf(expf(x)); }

static void prepare(const float *x, Weights w, long T, Row r) {
    for (long t = 0; t < T; t++) {
        float *restrict u = r.u + t * CONV, *restrict sig = r.sig + t * CONV;
        memset(u, 0, sizeof(float) * CONV);
        for (int j = 0; j < TAPS; j++) {
            long from = t - (TAPS - 1) + j;
            if (from < 0) continue;
            const float *restrict in = x + from * WIDTH, *restrict c = w.conv + j * CONV;
            for (int i = 0; i < CONV; i++) u[i] += c[i] * in[i];
        }
        for (int i = 0; i < CONV; i++) sig[i] = 1 / (1 + expf(-u[i]));
        for (int h = 0; h < HK; h++) {
            float q[D], k[D];
            for (int i = 0; i < D; i++) q[i] = u[h * D + i] * sig[h * D + i];
            for (int i = 0; i < D; i++) k[i] = u[KEY + h * D + i] * sig[KEY + h * D + i];
            float rq = 1 / sqrtf(dot(q, q, D) + EPS), rk = 1 / sqrtf(dot(k, k, D) + EPS);
            r.rq[t * HK + h] = rq;
            r.rk[t * HK + h] = rk;
            for (int i = 0; i < D; i++) r.q[t * KEY + h * D + i] = q[i] * rq;
            for (int i = 0; i < D; i++) r.k[t * KEY + h * D + i] = k[i] * rk;
        }
        for (int i = 0; i < VALUE; i++) r.v[t * VALUE + i] = u[2 * KEY + i] * sig[2 * KEY + i];
        const float *b = x + t * WIDTH + CONV + VALUE, *a = b + HV;
        for (int h = 0; h < HV; h++) {
            r.beta[t * HV + h] = 1 / (1 + expf(-b[h]));
            r.g[t * HV + h] = expf(-expf(w.a_log[h]) * softplus(a[h] + w.dt[h]));
        }
    }
}

// One head over all tokens; `states` [T + 1][D key][D value] when all are wanted, else one, which ends as the last.
static void rule(Row r, long T, int h, float *states, int keep) {
    const float scale = 1 / sqrtf(D);
    float s[D][D];
    memset(s, 0, sizeof s);
    if (keep) memcpy(states, s, sizeof s);
    for (long t = 0; t < T; t++) {
        const float *restrict q = r.q + t * KEY + h / R * D, *restrict k = r.k + t * KEY + h / R * D;
        const float *restrict v = r.v + t * VALUE + h * D;
        float *restrict y = r.y + t * VALUE + h * D;
        float g = r.g[t * HV + h], beta = r.beta[t * HV + h], m[D] = {0}, d[D], out[D] = {0};
        for (int i = 0; i < D; i++) {
            float ki = k[i];
            for (int j = 0; j < D; j++) {
                s[i][j] *= g;
                m[j] += ki * s[i][j];
            }
        }
        for (int j = 0; j < D; j++) d[j] = beta * (v[j] - m[j]);
        for (int i = 0; i < D; i++) {
            float ki = k[i], qi = q[i] * scale;
            for (int j = 0; j < D; j++) {
                s[i][j] += ki * d[j];
                out[j] += qi * s[i][j];
            }
        }
        for (int j = 0; j < D; j++) y[j] = out[j];
        if (keep) memcpy(states + (t + 1) * D * D, s, sizeof s);
    }
    if (!keep && states) memcpy(states, s, sizeof s);
}

// x [B][T][WIDTH], out [B][T][VALUE]; last [B][HV][D][D] or null.
void forward(long B, long T, const float *x, const float *conv, const float *dt, const float *a_log, const float *norm,
             float *out, float *last) {
    Weights w = {conv, dt, a_log, norm};
    float *arena = malloc(sizeof(float) * ROW_FLOATS(T));
    Row r = row_of(arena, T);
    for (long b = 0; b < B; b++, x += T * WIDTH, out += T * VALUE) {
        prepare(x, w, T, r);
        for (int h = 0; h < HV; h++) rule(r, T, h, last ? last + (b * HV + h) * D * D : NULL, 0);
        for (long t = 0; t < T; t++)
            for (int h = 0; h < HV; h++) {
                const float *restrict y = r.y + t * VALUE + h * D, *restrict z = x + t * WIDTH + CONV + h * D;
                float *restrict o = out + t * VALUE + h * D;
                float n = 1 / sqrtf(dot(y, y, D) / D + EPS);
                for (int j = 0; j < D; j++) o[j] = norm[j] * y[j] * n * z[j] / (1 + expf(-z[j]));
            }
    }
    free(arena);
}

// The gradients of one head's rule. dq, dk are added to; the arrays are those of the whole row.
static void rule_back(Row r, long T, int h, const float *states, const float *dy, float *dq, float *dk, float *dv,
                      float *dg, float *dbeta) {
    const float scale = 1 / sqrtf(D);
    float ds[D][D];
    memset(ds, 0, sizeof ds);
    for (long t = T - 1; t >= 0; t--) {
        const float *restrict q = r.q + t * KEY + h / R * D, *restrict k = r.k + t * KEY + h / R * D;
        const float *restrict v = r.v + t * VALUE + h * D, *restrict o = dy + t * VALUE + h * D;
        const float *restrict before = states + t * D * D, *restrict after = before + D * D;
        float *restrict to_q = dq + t * KEY + h / R * D, *restrict to_k = dk + t * KEY + h / R * D;
        float g = r.g[t * HV + h], beta = r.beta[t * HV + h];
        float m[D] = {0}, d[D], dd[D] = {0}, du[D], e[D], grad_g = 0, grad_beta = 0;
        for (int j = 0; j < D; j++) e[j] = o[j] * scale;
        for (int i = 0; i < D; i++) {
            float ki = k[i] * g, qi = q[i], sum = 0;
            for (int j = 0; j < D; j++) {
                m[j] += ki * before[i * D + j];
                sum += after[i * D + j] * e[j];
                ds[i][j] += qi * e[j];
                dd[j] += k[i] * ds[i][j];
            }
            to_q[i] += sum;
        }
        for (int j = 0; j < D; j++) {
            float u = v[j] - m[j];
            d[j] = beta * u;
            grad_beta += dd[j] * u;
            du[j] = beta * dd[j];
        }
        for (int j = 0; j < D; j++) dv[t * VALUE + h * D + j] = du[j];
        for (int i = 0; i < D; i++) {
            float ki = k[i], key = 0, decay = 0;
            for (int j = 0; j < D; j++) {
                key += ds[i][j] * d[j] - g * before[i * D + j] * du[j];
                ds[i][j] -= ki * du[j];
                decay += ds[i][j] * before[i * D + j];
                ds[i][j] *= g;
            }
            to_k[i] += key;
            grad_g += decay;
        }
        dg[t * HV + h] = grad_g;
        dbeta[t * HV + h] = grad_beta;
    }
}

// Given dout, writes dx and adds to the gradients of the weights.
void backward(long B, long T, const float *x, const float *conv, const float *dt, const float *a_log, const float *norm,
              const float *dout, float *dx, float *dconv, float *ddt, float *da_log, float *dnorm) {
    Weights w = {conv, dt, a_log, norm};
    size_t more = T * (VALUE + 2 * KEY + VALUE + 2 * HV) + CONV * T + (T + 1) * D * D;
    float *arena = malloc(sizeof(float) * (ROW_FLOATS(T) + more)), *rest = arena + ROW_FLOATS(T);
    Row r = row_of(arena, T);
    float *dy = take(&rest, T * VALUE), *dq = take(&rest, T * KEY), *dk = take(&rest, T * KEY);
    float *dv = take(&rest, T * VALUE), *dg = take(&rest, T * HV), *dbeta = take(&rest, T * HV);
    float *du = take(&rest, T * CONV), *states = take(&rest, (T + 1) * D * D);
    memset(dx, 0, sizeof(float) * B * T * WIDTH);
    for (long b = 0; b < B; b++, x += T * WIDTH, dx += T * WIDTH, dout += T * VALUE) {
        prepare(x, w, T, r);
        memset(dq, 0, sizeof(float) * T * KEY);
        memset(dk, 0, sizeof(float) * T * KEY);
        for (int h = 0; h < HV; h++) {
            rule(r, T, h, states, 1);
            for (long t = 0; t < T; t++) {
                const float *restrict y = r.y + t * VALUE + h * D, *restrict z = x + t * WIDTH + CONV + h * D;
                const float *restrict o = dout + t * VALUE + h * D;
                float *restrict to_y = dy + t * VALUE + h * D, *restrict to_z = dx + t * WIDTH + CONV + h * D;
                float n = 1 / sqrtf(dot(y, y, D) / D + EPS), c[D], mean = 0;
                for (int j = 0; j < D; j++) {
                    float sig = 1 / (1 + expf(-z[j])), silu = z[j] * sig, unit = y[j] * n;
                    to_z[j] = o[j] * norm[j] * unit * (sig + silu * (1 - sig));
                    dnorm[j] += o[j] * unit * silu;
                    c[j] = o[j] * norm[j] * silu;
                    mean += c[j] * unit;
                }
                mean /= D;
                for (int j = 0; j < D; j++) to_y[j] = n * (c[j] - y[j] * n * mean);
            }
            rule_back(r, T, h, states, dy, dq, dk, dv, dg, dbeta);
        }
        for (long t = 0; t < T; t++) {
            float *restrict d = du + t * CONV;
            const float *restrict u = r.u + t * CONV, *restrict sig = r.sig + t * CONV;
            for (int h = 0; h < HK; h++) {
                const float *q = r.q + t * KEY + h * D, *k = r.k + t * KEY + h * D;
                const float *gq = dq + t * KEY + h * D, *gk = dk + t * KEY + h * D;
                float along_q = dot(q, gq, D), along_k = dot(k, gk, D);
                float rq = r.rq[t * HK + h], rk = r.rk[t * HK + h];
                for (int i = 0; i < D; i++) d[h * D + i] = rq * (gq[i] - q[i] * along_q);
                for (int i = 0; i < D; i++) d[KEY + h * D + i] = rk * (gk[i] - k[i] * along_k);
            }
            memcpy(d + 2 * KEY, dv + t * VALUE, sizeof(float) * VALUE);
            for (int i = 0; i < CONV; i++) d[i] *= sig[i] * (1 + u[i] * (1 - sig[i]));
            for (int j = 0; j < TAPS; j++) {
                long from = t - (TAPS - 1) + j;
                if (from < 0) continue;
                const float *restrict in = x + from * WIDTH, *restrict c = conv + j * CONV;
                float *restrict to = dx + from * WIDTH, *restrict dc = dconv + j * CONV;
                for (int i = 0; i < CONV; i++) {
                    to[i] += c[i] * d[i];
                    dc[i] += in[i] * d[i];
                }
            }
            const float *bb = x + t * WIDTH + CONV + VALUE, *a = bb + HV;
            float *db = dx + t * WIDTH + CONV + VALUE, *da = db + HV;
            for (int h = 0; h < HV; h++) {
                float beta = r.beta[t * HV + h], g = r.g[t * HV + h], A = expf(a_log[h]);
                float sp = softplus(a[h] + dt[h]), slope = 1 / (1 + expf(-a[h] - dt[h]));
                float log_g = dg[t * HV + h] * g;
                db[h] = dbeta[t * HV + h] * beta * (1 - beta);
                da[h] = -log_g * A * slope;
                ddt[h] += da[h];
                da_log[h] -= log_g * A * sp;
            }
        }
    }
    free(arena);
}
