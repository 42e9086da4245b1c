package blob

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"gatherkit/internal/deadline"
)

// roleTime is how long the service that knows the machine's role may take to answer. On machines
// that have none, its address often does not answer at all.
var roleTime = deadline.Of(5 * time.Second)

// environment takes the credentials from the first of several places that has some.
type environment struct {
	places []credentials.Provider
	from   credentials.Provider // the place that had some, or nil
}

// newCredentials returns the credentials in the environment, the files of AWS tools, or the role of
// the machine, in this order. They are looked up when they are first needed and before they expire.
func newCredentials(region string, transport http.RoundTripper) *credentials.Credentials {
	places := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	endpoint, ok := roleEndpoint()
	if ok {
		client := &http.Client{Transport: transport, Timeout: roleTime}
		places = append(places, &credentials.IAM{Client: client, Endpoint: endpoint, Region: region})
	}
	return credentials.New(&environment{places: places})
}

// roleEndpoint returns the address that knows the role, or "" for the usual one. ok is false if the
// machine must not be asked for a role.
func roleEndpoint() (endpoint string, ok bool) {
	set := func(name string) bool { return os.Getenv(name) != "" }
	switch {
	case set("AWS_WEB_IDENTITY_TOKEN_FILE"): // of a Kubernetes service account
		return os.Getenv("AWS_ENDPOINT_URL_STS"), true
	case set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), set("AWS_CONTAINER_CREDENTIALS_FULL_URI"): // ECS and EKS set the address
		return "", true
	}
	return os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), os.Getenv("AWS_EC2_METADATA_DISABLED") != "true"
}

// RetrieveWithCredContext implements credentials.Provider. If no place has credentials, it returns
// the reasons. credentials.Chain would make calls without any, which S3 refuses without a reason.
func (e *environment) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	e.from = nil
	var failed []error
	for _, place := range e.places {
		value, err := place.RetrieveWithCredContext(c)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			e.from = place
			return value, nil
		}
		failed = append(failed, err)
	}
	return credentials.Value{}, fmt.Errorf("no credentials for S3 were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,"+
		" or give the machine a role: %w", errors.Join(failed...))
}

// Retrieve implements credentials.Provider.
func (e *environment) Retrieve() (credentials.Value, error) { return e.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (e *environment) IsExpired() bool { return e.from == nil || e.from.IsExpired() }
