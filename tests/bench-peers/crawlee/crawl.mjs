// Crawlee crawls from some pages and follows their links within the host: `crawl.mjs FILE CONNECTIONS PAGES`, one address
// a line, of so many pages in all. It prints how many pages and bytes came of it, and the microseconds of CPU that a page
// of the second half took.
import { readFileSync } from "node:fs";
import { CheerioCrawler, Configuration, log } from "@crawlee/cheerio";

const [file, connections, expected] = process.argv.slice(2);
const half = Math.floor(Number(expected) / 2);
let pages = 0;
let bytes = 0;
let failed = 0;
let atHalf = process.cpuUsage();

log.setLevel(log.LEVELS.ERROR);
const crawler = new CheerioCrawler(
    {
        minConcurrency: Number(connections),
        maxConcurrency: Number(connections),
        maxRequestRetries: 0,
        respectRobotsTxtFile: true,
        useSessionPool: false,
        async requestHandler({ body, enqueueLinks }) {
            bytes += body.length;
            pages += 1;
            if (pages === half) atHalf = process.cpuUsage();
            await enqueueLinks({ strategy: "same-hostname", globs: ["http://*/*.html"] });
        },
        failedRequestHandler() {
            failed += 1;
        },
    },
    new Configuration({ persistStorage: false }),
);
await crawler.run(readFileSync(file, "utf8").trim().split("\n"));
const { user, system } = process.cpuUsage(atHalf);
console.log(`${pages} pages, ${bytes} bytes, ${failed} failed`);
console.log(`warm us: ${((user + system) / (pages - half)).toFixed(1)}`);
