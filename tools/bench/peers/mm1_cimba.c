/* M/M/1 on Cimba's event queue, without its coroutines, which cost more. Argument: customers.
   Prints the mean sojourn. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cimba.h>

enum { kRoom = 4096 };

static double arrived[kRoom];
static unsigned head, present;
static long left;
static double sojourns;

static void depart(void *subject, void *object);

static void begin_service(void)
{
    cmb_event_schedule(depart, NULL, NULL, cmb_time() + cmb_random_exponential(1.0), 0);
}

static void arrive(void *subject, void *object)
{
    arrived[(head + present) % kRoom] = cmb_time();
    if (++present == 1) begin_service();
    cmb_event_schedule(arrive, subject, object, cmb_time() + cmb_random_exponential(1.0 / 0.9), 0);
}

static void depart(void *subject, void *object)
{
    (void)subject;
    (void)object;
    sojourns += cmb_time() - arrived[head];
    head = (head + 1) % kRoom;
    if (--left == 0) cmb_event_queue_clear();
    else if (--present > 0) begin_service();
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    const long customers = left = atol(argv[1]);
    cmb_random_initialize(1);
    cmb_event_queue_initialize(0.0);
    cmb_event_schedule(arrive, NULL, NULL, cmb_random_exponential(1.0 / 0.9), 0);
    cmb_event_queue_execute();
    printf("%.4f\n", sojourns / (double)customers);
    cmb_event_queue_terminate();
    cmb_random_terminate();
    return 0;
}
