import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** FILE FORMULATION SEQUENCE CONDITION WITHIN: pushes the events into Esper, prints one line of JSON. */
public class EsperRunner {
    public static void main(String[] args) throws Exception {
        List<Object[]> events = read(Path.of(args[0]));
        int within = Integer.parseInt(args[4]);
        String epl = args[1].equals("two-phase") ? twoPhase(args[3], within) : sequence(args[2], within);

        Configuration configuration = new Configuration();
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        configuration.getRuntime().getExecution().setPrioritized(false);
        configuration.getCommon().addEventType(
                "Ev", new String[] {"k", "t", "a", "b", "c"},
                new Object[] {int.class, long.class, boolean.class, boolean.class, boolean.class});
        EPCompiled compiled = EPCompilerProvider.getCompiler().compile(epl, new CompilerArguments(configuration));
        EPRuntime runtime = EPRuntimeProvider.getDefaultRuntime(configuration);
        runtime.initialize();
        var deployment = runtime.getDeploymentService().deploy(compiled);
        long[] matches = {0};
        for (var statement : deployment.getStatements()) {
            if ("out".equals(statement.getName())) {
                statement.addListener((fresh, old, s, r) -> matches[0] += fresh.length);
            }
        }
        var service = runtime.getEventService();
        long started = System.nanoTime();
        long clock = Long.MIN_VALUE;
        for (Object[] event : events) {
            long t = (Long) event[1];
            if (t != clock) {
                clock = t;
                service.advanceTime(t * 1000);
            }
            service.sendEventObjectArray(event, "Ev");
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        System.out.printf("{\"seconds\": %.6f, \"matches\": %d}%n", seconds, matches[0]);
        System.exit(0);
    }

    /** Runs of each condition by match_recognize, then a pattern over them in the order of their ends. */
    static String twoPhase(String condition, int within) {
        StringBuilder epl = new StringBuilder();
        for (String s : new String[] {"a", "b", "c"}) {
            epl.append("insert into S").append(s).append(" select * from Ev match_recognize (partition by k measures ")
               .append("E.k as k, first(S.t) as ts, E.t as te pattern (S+ E) define S as S.").append(s)
               .append(", E as not E.").append(s).append(");\n");
        }
        epl.append("@name('out') select a.ts, b.ts, c.ts from pattern [every a=Sa -> (every b=Sb(b.k = a.k and ")
           .append(only(condition, "a.", "c.")).append(") -> c=Sc(c.k = a.k and ").append(only(condition, "c.", null))
           .append(" and c.te - a.ts <= ").append(within).append(")) where timer:within(").append(within).append(" sec)];\n");
        return epl.toString();
    }

    /** The conditions that mention the first word, and not the second. */
    static String only(String condition, String with, String without) {
        List<String> parts = new ArrayList<>();
        for (String part : condition.split(" AND ")) {
            if (part.contains(with) && (without == null || !part.contains(without))) {
                parts.add(part);
            }
        }
        return String.join(" and ", parts);
    }

    static String sequence(String sequence, int within) {
        int define = sequence.indexOf(" define ");
        return "@name('out') select * from Ev match_recognize (partition by k measures first(A.t) as a_t, C.t as te all matches "
                + "after match skip to next row " + sequence.substring(0, define) + " interval " + within
                + " seconds or terminated" + sequence.substring(define) + ")";
    }

    static List<Object[]> read(Path file) throws Exception {
        List<Object[]> events = new ArrayList<>();
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String[] f = line.split(",");
                events.add(new Object[] {
                    Integer.valueOf(f[0]), Long.valueOf(f[1]),
                    f[2].equals("true"), f[3].equals("true"), f[4].equals("true")});
            }
        }
        return events;
    }
}
