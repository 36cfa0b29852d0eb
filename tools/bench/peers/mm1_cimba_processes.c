/* M/M/1 on Cimba as its users write it: a process for the arrivals, one for the server, a queue
   between them. Argument: customers. Prints the mean sojourn. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cimba.h>

enum { kRoom = 4096 };

static double arrived[kRoom]; /* customers are places in here */
static long customers;
static double sojourns;

static void *arrivals(struct cmb_process *me, void *queue)
{
    (void)me;
    for (long i = 0; i < customers; ++i) {
        cmb_process_hold(cmb_random_exponential(1.0 / 0.9));
        arrived[i % kRoom] = cmb_time();
        cmb_objectqueue_put(queue, &arrived[i % kRoom]);
    }
    return NULL;
}

static void *server(struct cmb_process *me, void *queue)
{
    (void)me;
    for (;;) {
        void *customer = NULL;
        cmb_objectqueue_get(queue, &customer);
        cmb_process_hold(cmb_random_exponential(1.0));
        sojourns += cmb_time() - *(double *)customer;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    customers = atol(argv[1]);
    cmb_logger_flags_off(CMB_LOGGER_INFO);
    cmb_random_initialize(1);
    cmb_event_queue_initialize(0.0);
    struct cmb_objectqueue *queue = cmb_objectqueue_create();
    cmb_objectqueue_initialize(queue, "queue", CMB_UNLIMITED);
    struct cmb_process *both[2];
    for (int i = 0; i < 2; ++i) {
        both[i] = cmb_process_create();
        cmb_process_initialize(both[i], i == 0 ? "arrivals" : "server",
                               i == 0 ? arrivals : server, queue, 0);
        cmb_process_start(both[i]);
    }
    cmb_event_queue_execute();
    printf("%.4f\n", sojourns / (double)customers);
    return 0;
}
