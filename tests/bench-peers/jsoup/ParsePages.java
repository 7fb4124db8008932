import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jsoup.Jsoup;

/**
 * jsoup parses the pages of a directory, which are decoded before the clock starts: {@code ParsePages DIRECTORY ROUNDS}.
 * It prints how many pages there are and, a figure a round, the microseconds of CPU that a page took its thread. The
 * virtual machine compiles and collects on other threads, which are not counted, to its advantage.
 */
final class ParsePages {
    /** Rounds that are not counted: what is not yet compiled is slow. */
    private static final int WARM_UP_ROUNDS = 10;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    public static void main(String[] arguments) throws IOException {
        List<String> pages = new ArrayList<>();
        try (var files = Files.newDirectoryStream(Path.of(arguments[0]))) {
            for (Path file : files) {
                pages.add(Files.readString(file));
            }
        }
        System.out.println("pages: " + pages.size());
        for (int round = 0; round < WARM_UP_ROUNDS; round++) {
            microsecondsPerPage(pages);
        }
        StringBuilder figures = new StringBuilder();
        for (int round = 0; round < Integer.parseInt(arguments[1]); round++) {
            figures.append(' ').append(microsecondsPerPage(pages));
        }
        System.out.println("jsoup us:" + figures);
    }

    private static double microsecondsPerPage(List<String> pages) {
        int nodes = 0;
        long begun = THREADS.getCurrentThreadCpuTime();
        for (String page : pages) {
            nodes += Jsoup.parse(page).childNodeSize();
        }
        long nanoseconds = THREADS.getCurrentThreadCpuTime() - begun;
        if (nodes < pages.size()) {
            throw new IllegalStateException("a page has no elements");
        }
        return nanoseconds / 1e3 / pages.size();
    }
}
