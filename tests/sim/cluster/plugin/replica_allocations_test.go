package rm

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	spec "github.com/NVIDIA/k8s-device-plugin/api/config/v1"
	kubeletdevicepluginv1beta1 "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// Prints what the device plugin gives: policy, replicas of a GPU, replicas taken of each GPU,
// replicas asked for, and what it takes of GPUs "taken before:taken now", in order of both, since
// equal GPUs come in any order. Run it where this function is:
//
//	cp replica_allocations_test.go k8s-device-plugin-v0.20.0/internal/rm/ && cd $_
//	go test -run TestReplicaAllocations -v . | grep -E '^(distributed|packed) '
func TestReplicaAllocations(t *testing.T) {
	const replicas = 4
	for _, policy := range []string{spec.AllocationPolicyDistributed, spec.AllocationPolicyPacked} {
		for _, taken := range [][]int{
			{0, 0}, {0, 1}, {1, 1}, {0, 2}, {0, 3}, {2, 4}, {3, 3}, {1, 4},
			{0, 0, 0, 0}, {0, 1, 1, 2}, {0, 0, 3, 3}, {1, 2, 3, 4}, {3, 3, 2, 4}, {0, 4, 4, 4},
		} {
			for asked := 1; asked <= 6; asked++ {
				devices := make(Devices)
				var available []string
				for gpu, used := range taken {
					for replica := 0; replica < replicas; replica++ {
						id := string(NewAnnotatedID(fmt.Sprintf("gpu-%d", gpu), replica))
						devices[id] = &Device{Device: kubeletdevicepluginv1beta1.Device{ID: id}}
						if replica >= used {
							available = append(available, id)
						}
					}
				}
				if len(available) < asked {
					continue
				}
				manager := resourceManager{devices: devices}
				given, err := manager.greedyAlloc(available, nil, asked, comparatorForPolicy(policy))
				if err != nil {
					t.Fatal(err)
				}
				var pairs []string
				for gpu, used := range taken {
					now := 0
					for _, id := range given {
						if AnnotatedID(id).GetID() == fmt.Sprintf("gpu-%d", gpu) {
							now++
						}
					}
					pairs = append(pairs, fmt.Sprintf("%d:%d", used, now))
				}
				sort.Strings(pairs)
				fmt.Println(policy, replicas, strings.Trim(fmt.Sprint(taken), "[]"), "+", asked, "=",
					strings.Join(pairs, " "))
			}
		}
	}
}
