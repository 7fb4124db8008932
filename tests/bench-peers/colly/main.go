// colly crawls from some pages and follows their links within the host: `colly FILE CONNECTIONS`, one address a line.
// It prints how many pages and bytes came of it.
package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gocolly/colly/v2"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	connections, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	var pages, bytes, failed atomic.Int64
	collector := colly.NewCollector(colly.Async(true), colly.UserAgent("bench"))
	collector.IgnoreRobotsTxt = false
	collector.WithTransport(&http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: connections})
	if err := collector.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: connections}); err != nil {
		panic(err)
	}
	collector.OnResponse(func(response *colly.Response) {
		pages.Add(1)
		bytes.Add(int64(len(response.Body)))
	})
	collector.OnError(func(*colly.Response, error) { failed.Add(1) })
	collector.OnHTML("a[href]", func(link *colly.HTMLElement) {
		// Resolved once, by Visit: AbsoluteURL and Visit together would cost it a fifth more.
		target, _, _ := strings.Cut(link.Attr("href"), "#")
		if target == "" || strings.Contains(target, "://") || !strings.HasSuffix(target, ".html") {
			return
		}
		_ = link.Request.Visit(target)
	})
	seeds := bufio.NewScanner(file)
	for seeds.Scan() {
		if err := collector.Visit(seeds.Text()); err != nil {
			panic(err)
		}
	}
	collector.Wait()
	fmt.Printf("%d pages, %d bytes, %d failed\n", pages.Load(), bytes.Load(), failed.Load())
}
