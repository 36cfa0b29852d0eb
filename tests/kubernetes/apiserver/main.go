// kube-apiserver on etcd, both as they are, in one process: for tests that need a real API.
//
//	apiserver FOLDER
//
// writes FOLDER/kubeconfig (a user who may do everything), prints "ready", and ends with its standard input.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const token = "test"

func freePort() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

func write(path, text string) string {
	check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

func startEtcd(folder string) string {
	config := embed.NewConfig()
	config.Dir = filepath.Join(folder, "etcd")
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	client := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", freePort())}
	peer := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", freePort())}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	check(err)
	<-etcd.Server.ReadyNotify()
	return client.String()
}

// A key for the tokens of ServiceAccounts.
func serviceAccountKey(folder string) string {
	return write(filepath.Join(folder, "sa.key"), newKey())
}

func waitUntilReady(server string) {
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for range 600 {
		request, err := http.NewRequest("GET", server+"/readyz", nil)
		check(err)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(request)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	check(fmt.Errorf("not ready after a minute"))
}

func main() {
	if len(os.Args) != 2 {
		check(fmt.Errorf("usage: apiserver FOLDER"))
	}
	folder := os.Args[1]
	key := serviceAccountKey(folder)
	port := freePort()
	server := fmt.Sprintf("https://127.0.0.1:%d", port)
	command := app.NewAPIServerCommand()
	command.SetArgs([]string{
		"--etcd-servers=" + startEtcd(folder),
		"--cert-dir=" + filepath.Join(folder, "certificates"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--authorization-mode=RBAC",
		// No controller makes the default ServiceAccount of a namespace.
		"--disable-admission-plugins=ServiceAccount",
		"--token-auth-file=" + write(filepath.Join(folder, "tokens"), token+`,admin,admin,"system:masters"`+"\n"),
		"-v=0",
	})
	go func() { check(command.ExecuteContext(context.Background())) }()
	waitUntilReady(server)
	write(filepath.Join(folder, "kubeconfig"), fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: %s}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
`, server, token))
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	check(err)
}
