package torture_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// namespace is a separate network (network_namespaces(7)), in which a service and its callers
// have addresses that are not loopback. It does not affect the machine's own network.
type namespace struct {
	// do runs a function on the thread that is in the network.
	do chan func()
}

// namespaceAddress is the address of the service. Callers have other addresses of its /24.
const namespaceAddress = "198.51.100.1"

// newNamespace creates a network for the test.
func newNamespace(t *testing.T) *namespace {
	t.Helper()
	n := &namespace{do: make(chan func())}
	ready := make(chan error)
	go func() {
		// The thread is never unlocked, so it ends with the goroutine, and the network with the
		// thread.
		runtime.LockOSThread()
		err := syscall.Unshare(syscall.CLONE_NEWNET)
		if err == nil {
			err = addAddresses()
		}
		ready <- err
		for fn := range n.do {
			fn()
		}
	}()
	t.Cleanup(func() { close(n.do) })
	if err := <-ready; err != nil {
		storetest.Missing(t, "root", fmt.Sprintf("run the tests as root, with network namespaces and iproute2: %v", err))
	}
	return n
}

func addAddresses() error {
	for _, args := range []string{"link set lo up", "addr add " + namespaceAddress + "/24 dev lo"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w\n%s", args, err, out)
		}
	}
	return nil
}

// start runs the service in the network.
func (n *namespace) start(t *testing.T) *program.Process {
	t.Helper()
	p := &program.Process{Address: namespaceAddress + ":18080", Exited: make(chan struct{})}
	binary := *otherBinary
	if binary == "" {
		binary = program.Build(t)
	}
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--listen="+p.Address)
	cmd.Dir, cmd.Env = t.TempDir(), program.CleanEnvironment()
	cmd.Stdout, cmd.Stderr = &p.Stdout, &p.Stderr
	done := make(chan struct{})
	n.do <- func() { // a process inherits the network of the thread that starts it
		defer close(done)
		program.Launch(t, cmd, p.Exited)
	}
	<-done
	p.Cmd, p.PID = cmd, cmd.Process.Pid
	program.Eventually(t, "gatherkit answers", func() bool {
		conn, err := n.dial("198.51.100.2", p.Address)
		if err != nil {
			return false
		}
		defer conn.Close() //nolint:errcheck // it has been read to its end
		return askReady(conn) == "HTTP/1.1 200 OK"
	})
	return p
}

// dial opens a connection from an address of the network.
func (n *namespace) dial(from, to string) (conn net.Conn, err error) {
	done := make(chan struct{})
	n.do <- func() {
		defer close(done)
		conn, err = dialFrom(from, to)
	}
	<-done
	return conn, err
}

func dialFrom(from, to string) (net.Conn, error) {
	local, err := net.ResolveTCPAddr("tcp", from+":0")
	if err != nil {
		return nil, err
	}
	remote, err := net.ResolveTCPAddr("tcp", to)
	if err != nil {
		return nil, err
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(socket), "connection")
	defer file.Close() //nolint:errcheck // FileConn duplicates the socket
	// Allows binding to addresses of the range that were not added to lo.
	if err := syscall.SetsockoptInt(socket, syscall.IPPROTO_IP, syscall.IP_FREEBIND, 1); err != nil {
		return nil, err
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte(local.IP.To4())}); err != nil {
		return nil, err
	}
	if err := syscall.Connect(socket, &syscall.SockaddrInet4{Port: remote.Port, Addr: [4]byte(remote.IP.To4())}); err != nil {
		return nil, err
	}
	return net.FileConn(file)
}
