"""Scrapy fetches the addresses of a file: `fetch_list.py FILE`. It prints how many pages and bytes came of it.

Robots.txt, cookies, retries and its console are off, which spares it work that recrawl does in the same run."""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess

came = {"pages": 0, "bytes": 0}


class FetchList(scrapy.Spider):
    name = "fetch_list"

    async def start(self):
        with open(sys.argv[1], encoding="utf-8") as addresses:
            for address in addresses:
                yield scrapy.Request(address.strip(), dont_filter=True)

    def parse(self, response):
        came["pages"] += 1
        came["bytes"] += len(response.body)


process = CrawlerProcess(
    {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": False,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(FetchList)
process.start()
print(f"{came['pages']} pages, {came['bytes']} bytes")
