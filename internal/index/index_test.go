package index_test

import (
	"context"
	"time"
)

var ctx = context.Background()

const day = 24 * time.Hour
