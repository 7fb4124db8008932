/* Loaded into a program by LD_PRELOAD, this moves its time of day WRONG_CLOCK_S seconds ahead. Only clock_gettime with
   CLOCK_REALTIME is changed, so that waits keep their length. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    static long ahead;
    if (!real) {
        const char *wanted = getenv("WRONG_CLOCK_S");
        ahead = wanted ? atol(wanted) : 0;
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    int answer = real(clock, time);
    if (answer == 0 && clock == CLOCK_REALTIME) {
        time->tv_sec += ahead;
    }
    return answer;
}
