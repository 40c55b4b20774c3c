// The rival of `npm run bench:fanout`: go-control-plane's LinearCache behind its xDS server, as its own example sets
// gRPC up. It follows the same commands on its standard input as ../plimsoll-server.ts, each answered by one line:
//
//	prepare FIRST COUNT   builds the assignments of these pushes
//	push N                publishes the prepared assignment of that number
//	cpu                   tells the processor time used so far, in microseconds
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"syscall"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const group = "bench"

func main() {
	backends := flag.Int("backends", 100, "endpoints of the group")
	flag.Parse()
	linear := cache.NewLinearCache(resource.EndpointType)
	publish(linear, assignment(0, *backends))

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	grpcServer := grpc.NewServer(
		grpc.MaxConcurrentStreams(1000000),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 5 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 30 * time.Second, PermitWithoutStream: true}),
	)
	xds := server.NewServer(context.Background(), linear, server.CallbackFuncs{})
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer, xds)
	go func() { log.Fatal(grpcServer.Serve(listener)) }()
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	follow(linear, *backends)
}

// follow obeys the commands until the standard input ends.
func follow(linear *cache.LinearCache, backends int) {
	prepared := map[int]*endpoint.ClusterLoadAssignment{}
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		var word string
		var first, count int
		_, _ = fmt.Sscan(commands.Text(), &word, &first, &count)
		switch word {
		case "prepare":
			for number := first; number < first+count; number++ {
				prepared[number] = assignment(number, backends)
			}
			fmt.Println("prepared")
		case "push":
			publish(linear, prepared[first])
			delete(prepared, first)
			fmt.Println("pushed")
		case "cpu":
			fmt.Println("cpu", cpuMicros())
		default:
			log.Fatalf("unknown command %q", commands.Text())
		}
	}
}

func publish(linear *cache.LinearCache, assignment *endpoint.ClusterLoadAssignment) {
	if err := linear.UpdateResource(group, assignment); err != nil {
		log.Fatal(err)
	}
}

// assignment has other weights for every number, the same as ../assignment.ts.
func assignment(number, backends int) *endpoint.ClusterLoadAssignment {
	endpoints := make([]*endpoint.LbEndpoint, backends)
	for index := range endpoints {
		endpoints[index] = lbEndpoint(index, uint32(90_000+(index*7919+number*104_729)%20_000))
	}
	return &endpoint.ClusterLoadAssignment{
		ClusterName: group,
		Endpoints: []*endpoint.LocalityLbEndpoints{{
			Locality:            &core.Locality{},
			LbEndpoints:         endpoints,
			LoadBalancingWeight: wrapperspb.UInt32(1),
		}},
	}
}

func lbEndpoint(index int, weight uint32) *endpoint.LbEndpoint {
	socket := &core.SocketAddress{
		Address:       fmt.Sprintf("10.%d.%d.%d", index>>16, index>>8&255, index&255),
		PortSpecifier: &core.SocketAddress_PortValue{PortValue: 8000},
	}
	return &endpoint.LbEndpoint{
		HostIdentifier: &endpoint.LbEndpoint_Endpoint{Endpoint: &endpoint.Endpoint{
			Address: &core.Address{Address: &core.Address_SocketAddress{SocketAddress: socket}},
		}},
		HealthStatus:        core.HealthStatus_HEALTHY,
		LoadBalancingWeight: wrapperspb.UInt32(weight),
	}
}

func cpuMicros() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
}
