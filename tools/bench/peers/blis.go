// Requests of a file through BLIS' scheduler, KV cache and event loop, its step times replaced by the
// law of slicewise, so that what differs is not the GPU. For blis.py, which builds and calls it:
//
//	blis STEP_LAW MAX_SEQUENCES MAX_TOKENS BLOCKS BLOCK_SIZE < REQUESTS
//
// STEP_LAW is weights,token,cache,overhead in microseconds; a request is a line of arrival in
// microseconds, tokens of its prompt and of its answer, and hashes of the blocks of 512 tokens of its
// prompt. Writes a line of TTFT and end-to-end latency in microseconds per request; then preemptions.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/inference-sim/inference-sim/sim"
	_ "github.com/inference-sim/inference-sim/sim/kv"
	"github.com/sirupsen/logrus"
)

const hashed = 512 // tokens of a block that has a hash

// T = || weights, N token ||_2 + C cache + overhead, in microseconds.
type stepLaw struct{ weights, token, cache, overhead float64 }

func (law stepLaw) StepTime(batch []*sim.Request) int64 {
	tokens, cached := 0, int64(0)
	for _, request := range batch {
		tokens += request.NumNewTokens
		cached += request.ProgressIndex
	}
	us := math.Hypot(law.weights, float64(tokens)*law.token) + float64(cached)*law.cache + law.overhead
	return max(1, int64(math.Round(us)))
}
func (stepLaw) QueueingTime(*sim.Request) int64  { return 0 }
func (stepLaw) OutputTokenProcessingTime() int64 { return 0 }
func (stepLaw) PostDecodeFixedOverhead() int64   { return 0 }

func number(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return value
}

// Prompts begin alike as far as their hashes are equal; without hashes none does.
func request(id int, fields []string) *sim.Request {
	prompt := make([]sim.TokenID, int(number(fields[1])))
	for i := range prompt {
		block := 1<<20 + id
		if i/hashed+3 < len(fields) {
			block = int(number(fields[i/hashed+3]))
		}
		prompt[i] = sim.TokenID(block*hashed + i%hashed)
	}
	return &sim.Request{ID: strconv.Itoa(id), ArrivalTime: int64(number(fields[0])), InputTokens: prompt,
		OutputTokens: make([]sim.TokenID, int(number(fields[2]))), State: sim.StateQueued}
}

func main() {
	logrus.SetLevel(logrus.ErrorLevel)
	times := strings.Split(os.Args[1], ",")
	law := stepLaw{number(times[0]), number(times[1]), number(times[2]), number(times[3])}
	limit := func(n int) int64 { return int64(number(os.Args[n])) }
	config := sim.SimConfig{Horizon: math.MaxInt64,
		KVCacheConfig: sim.NewKVCacheConfig(limit(4), limit(5), 0, 0, 0, 0),
		BatchConfig:   sim.NewBatchConfig(limit(2), limit(3), 0),
		PolicyConfig:  sim.NewPolicyConfig("fcfs", "fcfs")}
	simulator, err := sim.NewSimulator(config, sim.MustNewKVStoreFromConfig(config.KVCacheConfig), law)
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	count := 0
	for ; lines.Scan(); count++ {
		simulator.InjectArrival(request(count, strings.Fields(lines.Text())))
	}
	simulator.Run()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	metrics := simulator.Metrics
	for id := range count {
		name := strconv.Itoa(id)
		fmt.Fprintf(out, "%.0f %.0f\n", metrics.RequestTTFTs[name], metrics.RequestE2Es[name])
	}
	fmt.Fprintln(out, metrics.PreemptionCount)
}
