import com.sun.management.OperatingSystemMXBean;
import edu.uci.ics.crawler4j.crawler.CrawlConfig;
import edu.uci.ics.crawler4j.crawler.CrawlController;
import edu.uci.ics.crawler4j.crawler.Page;
import edu.uci.ics.crawler4j.crawler.WebCrawler;
import edu.uci.ics.crawler4j.fetcher.PageFetcher;
import edu.uci.ics.crawler4j.robotstxt.RobotstxtConfig;
import edu.uci.ics.crawler4j.robotstxt.RobotstxtServer;
import edu.uci.ics.crawler4j.url.WebURL;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * crawler4j crawls from some pages and follows their links within the host: {@code Crawl FILE CONNECTIONS PAGES}, one
 * address a line, of so many pages in all. Its database goes beside the file. It prints how many pages and bytes came of
 * it, and the microseconds of CPU that a page of the second half took.
 */
public final class Crawl extends WebCrawler {
    private static final AtomicLong pages = new AtomicLong();
    private static final AtomicLong bytes = new AtomicLong();
    private static long half;
    private static volatile long nanosecondsAtHalf;

    /** Of the process, all threads. */
    private static long cpuNanoseconds() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    @Override
    public boolean shouldVisit(Page from, WebURL target) {
        String page = from.getWebURL().getURL();
        String host = page.substring(0, page.indexOf('/', "http://".length()) + 1);
        return target.getURL().startsWith(host) && target.getURL().endsWith(".html");
    }

    @Override
    public void visit(Page page) {
        bytes.addAndGet(page.getContentData().length);
        if (pages.incrementAndGet() == half) {
            nanosecondsAtHalf = cpuNanoseconds();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        List<String> seeds = Files.readAllLines(file);
        int connections = Integer.parseInt(arguments[1]);
        half = Long.parseLong(arguments[2]) / 2;
        CrawlConfig config = new CrawlConfig();
        config.setCrawlStorageFolder(Files.createTempDirectory(file.toAbsolutePath().getParent(), "crawler4j").toString());
        config.setPolitenessDelay(0);
        config.setMaxConnectionsPerHost(connections);
        config.setMaxTotalConnections(connections * seeds.size());
        config.setUserAgentString("bench");
        // It waits that long, three times, to be sure that it is done: 10 s unless told otherwise.
        config.setThreadMonitoringDelaySeconds(1);
        config.setThreadShutdownDelaySeconds(1);
        config.setCleanupDelaySeconds(1);
        PageFetcher fetcher = new PageFetcher(config);
        RobotstxtConfig robots = new RobotstxtConfig();
        robots.setUserAgentName("bench");
        CrawlController controller = new CrawlController(config, fetcher, new RobotstxtServer(robots, fetcher));
        for (String seed : seeds) {
            controller.addSeed(seed);
        }
        controller.start(Crawl.class, connections);
        double warm = (cpuNanoseconds() - nanosecondsAtHalf) / 1e3 / (pages.get() - half);
        System.out.printf("%d pages, %d bytes%nwarm us: %.1f%n", pages.get(), bytes.get(), warm);
    }
}
