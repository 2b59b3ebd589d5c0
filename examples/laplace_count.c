/* A noisy count as a program under audit: protocol 1, answers as bytes.
 *
 *     cc -O2 -o laplace_count laplace_count.c -lm
 *     ./laplace_count SCALE
 *
 * The dataset is a list of 0 and 1; released is its sum plus Laplace noise of scale SCALE: 1/SCALE-DP when one record
 * is added, removed or replaced. Reads one JSON request a line, which it knows well enough to scan for three keys.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next_word(void) { /* SplitMix64 */
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double laplace(double scale) {
    uint64_t word = next_word();
    double uniform = ((double)(word >> 12) + 0.5) / 4503599627370496.0; /* 52 bits, never 0 or 1 */
    double magnitude = -log(uniform);
    return word & 1 ? scale * magnitude : -scale * magnitude;
}

static const char *value_of(const char *line, const char *key) {
    const char *found = strstr(line, key);
    return found ? strchr(found, ':') + 1 : NULL;
}

static double count_ones(const char *list) {
    double count = 0;
    for (const char *c = strchr(list, '['); c && *c && *c != ']'; c++)
        count += *c == '1';
    return count;
}

int main(int argc, char **argv) {
    double scale = argc > 1 ? atof(argv[1]) : 1.0;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *request = value_of(line, "\"request\""), *size = value_of(line, "\"size\"");
        const char *seed = value_of(line, "\"seed\""), *dataset = value_of(line, "\"dataset\"");
        if (!request || !size || !seed || !dataset) {
            puts("{\"request\": null, \"error\": \"a key is missing\"}");
            fflush(stdout);
            continue;
        }
        size_t n = strtoull(size, NULL, 10);
        double count = count_ones(dataset), *outputs = malloc(n * sizeof *outputs);
        state = strtoull(seed, NULL, 10);
        for (size_t i = 0; i < n; i++)
            outputs[i] = count + laplace(scale);
        printf("{\"request\": %llu, \"shape\": [%zu]}\n", strtoull(request, NULL, 10), n);
        fwrite(outputs, sizeof *outputs, n, stdout);
        fflush(stdout);
        free(outputs);
    }
    free(line);
    return 0;
}
