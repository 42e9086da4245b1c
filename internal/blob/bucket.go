package blob

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

const (
	// tries is how often a call of S3 is tried.
	tries = 3
	// partSize is the size of the parts in which a file of unknown size is sent. Each is in memory.
	// S3 takes no smaller ones.
	partSize = 5 << 20
	// amazon is the endpoint for all regions, to which minio-go adds the region.
	amazon = "s3.amazonaws.com"
)

// bucket stores each file as an object in S3.
type bucket struct {
	client *minio.Client
	name   string
}

// openBucket does not connect to S3.
func openBucket(place string) (*bucket, error) {
	at, err := parseBucket(place)
	if err != nil {
		return nil, fmt.Errorf("cannot open the bucket of attached files: %w; check --uploads", err)
	}
	transport, err := minio.DefaultTransport(at.endpoint.Scheme == "https")
	if err != nil {
		return nil, err
	}
	client, err := minio.New(at.endpoint.Host, &minio.Options{
		Creds: newCredentials(at.region, transport), Secure: at.endpoint.Scheme == "https", Transport: transport,
		Region: at.region, BucketLookup: at.lookup, MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot open the bucket of attached files: %w; check --uploads", err)
	}
	client.SetS3EnableDualstack(false) // policies of pages and networks name the address without it
	return &bucket{client, at.name}, nil
}

// bucketAddress says where a bucket is.
type bucketAddress struct {
	name, region string
	endpoint     *url.URL
	lookup       minio.BucketLookupType
}

// parseBucket reads an s3:// URL with the optional parameters region, endpoint and use_path_style.
func parseBucket(place string) (at bucketAddress, err error) {
	u, err := url.Parse(place)
	if err != nil {
		return at, err
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return at, err
	}
	for name := range query {
		if name != "region" && name != "endpoint" && name != "use_path_style" {
			return at, fmt.Errorf("the URL has the unknown parameter %q; it may have region, endpoint and use_path_style", name)
		}
	}
	if strings.Trim(u.Path, "/") != "" {
		return at, errors.New("the URL must not have a path; it names a whole bucket, such as s3://name?region=eu-central-1")
	}
	at.name = u.Host
	if err := s3utils.CheckValidBucketName(at.name); err != nil {
		return at, err
	}
	if at.endpoint, err = parseEndpoint(query.Get("endpoint")); err != nil {
		return at, err
	}
	at.region = cmp.Or(query.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	switch {
	case at.region != "":
	case at.endpoint.Host == amazon:
		return at, errors.New("the URL has no region; add it, such as s3://name?region=eu-central-1, or set AWS_REGION")
	default:
		at.region = "us-east-1" // the default of other servers
	}
	at.lookup, err = parseLookup(query, at)
	return at, err
}

// parseEndpoint returns the endpoint of Amazon if address is empty.
func parseEndpoint(address string) (*url.URL, error) {
	if address == "" {
		return &url.URL{Scheme: "https", Host: amazon}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("endpoint must be a URL without a path, such as https://minio.example.com")
	}
	return u, nil
}

// parseLookup returns whether the bucket is in the host or in the path of URLs. It is in the path if
// use_path_style is true, or if the bucket cannot be in the host: a certificate for *.example.com is
// not valid for a bucket with dots in its name, and an IP address has no subdomains.
func parseLookup(query url.Values, at bucketAddress) (minio.BucketLookupType, error) {
	pathStyle := false
	if text := query.Get("use_path_style"); text != "" {
		var err error
		if pathStyle, err = strconv.ParseBool(text); err != nil {
			return 0, errors.New("use_path_style must be true or false")
		}
	}
	secure := at.endpoint.Scheme == "https"
	if pathStyle || secure && strings.Contains(at.name, ".") || net.ParseIP(at.endpoint.Hostname()) != nil {
		return minio.BucketLookupPath, nil
	}
	return minio.BucketLookupDNS, nil
}

// write implements files. It may replace an accepted file, because some S3-compatible servers
// cannot refuse that. Clients cannot write to accepted files.
func (b *bucket) write(ctx context.Context, key string, from io.Reader, size int64) error {
	_, again := from.(io.Seeker)
	if !again {
		// What can be read only once gets no MD5 sum, because minio-go would keep all of it in memory.
		// It must not be sent to its end after the call has ended, because S3 would then store it.
		from = untilDone{ctx, from}
	}
	_, err := b.client.PutObject(ctx, b.name, key, from, size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", SendContentMd5: again, DisableMultipart: size >= 0, PartSize: partSize,
	})
	return explained(err)
}

func (b *bucket) open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	object, err := b.client.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, 0, err
	}
	info, err := object.Stat()
	if err != nil {
		return nil, 0, errors.Join(explained(err), object.Close())
	}
	return object, info.Size, nil
}

func (b *bucket) size(ctx context.Context, key string) (int64, error) {
	info, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	return info.Size, explained(err)
}

func (b *bucket) remove(ctx context.Context, key string) error {
	if err := explained(b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{})); !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// target returns a URL to which a client can send a file of exactly size bytes. The size is part
// of the signature, because a URL cannot limit it in another way.
func (b *bucket) target(ctx context.Context, key string, size int64, life time.Duration) (string, error) {
	signed := http.Header{"Content-Length": {strconv.FormatInt(size, 10)}}
	u, err := b.client.PresignHeader(ctx, http.MethodPut, b.name, key, life, nil, signed)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// explained returns ErrNotFound if err means that an object does not exist, and adds to an error about the certificate
// what an operator can do.
func explained(err error) error {
	switch {
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return ErrNotFound
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return fmt.Errorf("this machine does not know the authority that has signed the certificate of S3;"+
			" add it as docs/operating.md says under Certificates: %w", err)
	}
	return err
}

// untilDone is a reader that fails once the context has ended.
type untilDone struct {
	ctx  context.Context //nolint:containedctx // it has the lifetime of one copy
	from io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
