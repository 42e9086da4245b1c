package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// measureIdle measures what a service costs while nobody calls it, with one account and with many, and how long it takes
// to start.
func measureIdle(ctx context.Context, o options, r rig) error {
	fmt.Print("\n| accounts | start to first answer | of a processor, at rest | of it, the database's | memory at rest |\n" +
		"| --- | --- | --- | --- | --- |\n")
	for _, add := range []int{0, o.accounts} {
		if _, err := r.addTenants(ctx, add); err != nil {
			return err
		}
		if err := r.untilIndexed(ctx); err != nil {
			return err
		}
		var starts, shares, databases, memory []figures
		for range o.rounds {
			client.CloseIdleConnections()
			r.stop()
			if err := r.start(ctx); err != nil {
				return err
			}
			starts = append(starts, figures{rate: float64(r.coldStart.Microseconds()) / 1000})
			time.Sleep(o.during) // what it does once is done
			share, database, err := r.work(ctx, 10*o.during)
			if err != nil {
				return err
			}
			resident, _, err := r.memory()
			if err != nil {
				return err
			}
			shares, databases = append(shares, figures{rate: share}), append(databases, figures{rate: database})
			memory = append(memory, figures{rate: resident})
		}
		fmt.Printf("| %d | %.0f ms | %.2f %% | %.2f %% | %.1f MB |\n", 1+add, median(starts).rate,
			100*median(shares).rate, 100*median(databases).rate, median(memory).rate)
	}
	return nil
}

// work returns how much of a processor the service takes for some time, together with the database's server, and how
// much of that the server takes.
func (r rig) work(ctx context.Context, during time.Duration) (all, database float64, err error) {
	before, err := r.ticks(ctx)
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(during)
	after, err := r.ticks(ctx)
	if err != nil {
		return 0, 0, err
	}
	for pid, n := range after { // what a connection took that has ended is not known
		seconds := float64(n-before[pid]) / 100 // on Linux
		if all += seconds / during.Seconds(); pid != r.cmd.Process.Pid {
			database += seconds / during.Seconds()
		}
	}
	return all, database, nil
}

// ticks returns the processor time, in hundredths of a second, that the service has taken, and each process of
// PostgreSQL.
func (r rig) ticks(ctx context.Context) (map[int]int, error) {
	pids := []int{r.cmd.Process.Pid}
	if r.driver == "pgx" {
		servers, err := all(ctx, r.db, func(found *sql.Rows) (pid int, err error) {
			err = found.Scan(&pid)
			return pid, err
		}, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
		if err != nil {
			return nil, err
		}
		pids = append(pids, servers...)
	}
	ticks := make(map[int]int, len(pids))
	for _, pid := range pids {
		n, err := processTicks(pid)
		if err != nil {
			return nil, err
		}
		ticks[pid] = n
	}
	return ticks, nil
}

// processTicks reads the user and system time of a process: see proc_pid_stat(5).
func processTicks(pid int) (n int, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const user, system = 11, 12 // of the fields that follow the name, which is in parentheses
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range []int{user, system} {
		field, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, err
		}
		n += field
	}
	return n, nil
}
