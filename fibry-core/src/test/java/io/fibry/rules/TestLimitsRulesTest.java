package io.fibry.rules;

import static io.fibry.rules.Repository.ROOT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Checks waits, processes, ports and system properties in the tests of all modules. A test waits
 * with {@code io.fibry.support.Patience}, whose limit grows on a slow machine. It starts each
 * process as a {@code Child}. A test with another limit of real time would fail on a busy machine.
 */
class TestLimitsRulesTest {
  private static final String UNIT =
      "(?:TimeUnit\\.)?(?:(?:NANO|MICRO|MILLI)?SECONDS|MINUTES|HOURS|DAYS)";

  /** A call with a limit of its own, such as {@code latch.await(5, TimeUnit.SECONDS)}. */
  private static final Pattern OWN_LIMIT = Pattern.compile(
      "\\.(?:await|awaitTermination|get|poll|join|waitFor|tryAcquire|tryLock|exchange|offer)"
          + "\\((?:[^()]|\\([^()]*\\))*\\b" + UNIT + "\\)"
          + "|\\.(?:join|waitFor)\\(Duration\\b|\\.orTimeout\\(|assertTimeout(?:Preemptively)?\\(");

  /** A limit of JUnit. */
  private static final Pattern JUNIT_LIMIT = Pattern.compile("@Timeout\\b");

  /** An assertion that an elapsed time is below a bound. */
  private static final Pattern ELAPSED = Pattern.compile(
      "assert\\w*\\(.*(?:(?:nanoTime|currentTimeMillis)\\(\\) - [^<>]*|\\b(?:took|elapsed)\\w*(?:\\(\\))? ?)<");

  /** A sleep, after which the test would assume that other threads are done. */
  private static final Pattern SLEEP = Pattern.compile("Thread\\.sleep\\(|TimeUnit\\.[A-Z]+\\.sleep\\(");

  /** A process that is no {@code Child}, and stays alive if the test fails. */
  private static final Pattern OWN_PROCESS = Pattern.compile("(?<!Child\\.start\\()new ProcessBuilder\\(");

  /** The property for soak tests, which only {@code Soak} may read. */
  private static final Pattern SOAK_PROPERTY = Pattern.compile("\"fibry\\.soak\"");

  /** A fixed port, which another program may use. */
  private static final Pattern FIXED_PORT = Pattern.compile(
      "(?:new (?:Server|Datagram)?Socket|new InetSocketAddress|embeddedHttpServer|tcpAcceptor)"
          + "\\((?:\"[^\"]*\", )?[1-9]\\d{3,4}\\b");

  /** A change of a system property, which tests that run later in the JVM would see, too. */
  private static final Pattern SET_PROPERTY = Pattern.compile("System(?:\\.|::)set(?:Property|Properties)\\b");

  private static final String RESTORE = "@RestoreSystemProperties";

  /** Modules and files in which time is simulated. */
  private static final Pattern SIMULATED =
      Pattern.compile(
          "fibry-simulation/.*|fibry-proof/.*(?:Round|SimulationTest|/RemoteMachineTransport|/DelayedLine)\\.java");

  private static final String LIMIT_IS_TESTED = "tests a limit of the JDK or of a request";

  /** Files that may break a rule, each with its reason. */
  private static final Map<String, String> EXCEPTIONS = Map.ofEntries(
      Map.entry("TestLimitsRulesTest.java", "contains the forbidden calls as texts"),
      Map.entry("CancellingTest.java", LIMIT_IS_TESTED),
      Map.entry("DerivedStageTest.java", LIMIT_IS_TESTED),
      Map.entry("RequestsTest.java", LIMIT_IS_TESTED),
      Map.entry("TerminationTest.java", LIMIT_IS_TESTED),
      Map.entry("PoolWaitFutureTest.java", LIMIT_IS_TESTED),
      Map.entry("FalseWaitCycleTest.java", LIMIT_IS_TESTED),
      Map.entry("WaitCycleTest.java", LIMIT_IS_TESTED),
      Map.entry("WaitCycleStressTest.java", LIMIT_IS_TESTED),
      Map.entry("PoolWaitCycleStressTest.java", LIMIT_IS_TESTED),
      Map.entry("MapReduceEndTest.java", LIMIT_IS_TESTED),
      Map.entry("OverloadRampTest.java", "a soak test, whose clients have a limit"),
      Map.entry("LoadGenerator.java", "the clients of OverloadRampTest"),
      Map.entry("YieldPointAgent.java", "an agent, whose property tests read"),
      Map.entry("PeersTest.java", "waits for a cancelled timer, which must not fire"));

  private static String path(Path file) {
    return ROOT.relativize(file).toString().replace('\\', '/');
  }

  private static List<Path> tests() {
    return Repository.files(".java", ".kt").stream().filter(file -> path(file).contains("/src/test/"))
        .filter(file -> !path(file).contains("/resources/") && !path(file).startsWith("fibry-test-support/"))
        .filter(file -> !SIMULATED.matcher(path(file)).matches()).toList();
  }

  private static List<String> matches(Pattern pattern, Path file) throws IOException {
    var violations = new ArrayList<String>();
    int number = 0;
    for (var line : Files.readAllLines(file)) {
      number++;
      if (pattern.matcher(line).find()) violations.add(path(file) + ":" + number + ": " + line.strip());
    }
    return violations;
  }

  private static void forbid(Pattern pattern, String advice) throws IOException {
    var violations = new ArrayList<String>();
    for (var file : tests())
      if (!EXCEPTIONS.containsKey(file.getFileName().toString())) violations.addAll(matches(pattern, file));
    assertEquals("", String.join("\n", violations), advice);
  }

  @Test
  void testsWaitOnlyThroughClassPatience() throws IOException {
    forbid(OWN_LIMIT, "wait with Patience: await, value, nextOf, awaitEnd, acquire, eventually, progress");
  }

  @Test
  void testsUseCommonTimeLimit() throws IOException {
    forbid(JUNIT_LIMIT, "TestLimit gives each test five minutes of the clock Pace");
  }

  @Test
  void testsAssertNoUpperBoundOfElapsedTime() throws IOException {
    forbid(ELAPSED, "count the expensive operations, or measure the time in fibry-bench");
  }

  @Test
  void testsDoNotSleep() throws IOException {
    forbid(SLEEP, "wait for a condition with Patience, or move a manual clock");
  }

  @Test
  void testsStartProcessesOnlyThroughClassChild() throws IOException {
    forbid(OWN_PROCESS, "start the process as io.fibry.support.Child, which always ends it");
  }

  @Test
  void testsReadSoakPropertyOnlyThroughClassSoak() throws IOException {
    forbid(SOAK_PROPERTY, "use Soak.ON");
  }

  @Test
  void testsListenOnNoFixedPort() throws IOException {
    forbid(FIXED_PORT, "listen on port 0, and get the port from the server");
  }

  @Test
  void testsRestoreSystemProperties() throws IOException {
    var violations = new ArrayList<String>();
    for (var file : tests())
      if (!EXCEPTIONS.containsKey(file.getFileName().toString()) && !Files.readString(file).contains(RESTORE))
        violations.addAll(matches(SET_PROPERTY, file));
    assertEquals("", String.join("\n", violations), "put " + RESTORE + " of JUnit on the class");
  }

  @Test
  void exemptionIsListedOnlyForFileThatBreaksRule() throws IOException {
    var unneeded = new TreeSet<>(EXCEPTIONS.keySet());
    for (var file : tests())
      for (var pattern : List.of(OWN_LIMIT, JUNIT_LIMIT, ELAPSED, SLEEP, OWN_PROCESS, SOAK_PROPERTY, FIXED_PORT,
          SET_PROPERTY))
        if (!matches(pattern, file).isEmpty()) unneeded.remove(file.getFileName().toString());

    assertTrue(unneeded.isEmpty(), () -> unneeded + " break no rule: remove them from EXCEPTIONS");
  }

  @Test
  void rulesFindForbiddenCode() {
    assertTrue(OWN_LIMIT.matcher("latch.await(5, TimeUnit.SECONDS)").find());
    assertTrue(OWN_LIMIT.matcher("future.get(LONG.toSeconds(), SECONDS)").find());
    assertTrue(OWN_LIMIT.matcher("thread.join(Duration.ofSeconds(5))").find());
    assertTrue(JUNIT_LIMIT.matcher("@Timeout(5)").find());
    assertTrue(ELAPSED.matcher("assertTrue(System.nanoTime() - begun < 5_000_000)").find());
    assertTrue(ELAPSED.matcher("assertTrue(elapsed < 5)").find());
    assertTrue(SLEEP.matcher("Thread.sleep(5)").find());
    assertTrue(OWN_PROCESS.matcher("var kill = new ProcessBuilder(\"kill\")").find());
    assertTrue(SOAK_PROPERTY.matcher("Boolean.getBoolean(\"fibry.soak\")").find());
    assertTrue(FIXED_PORT.matcher("new ServerSocket(8080)").find());
    assertTrue(SET_PROPERTY.matcher("System.setProperty(\"size\", \"8\")").find());
    assertTrue(SET_PROPERTY.matcher("forEach(System::setProperty)").find());
  }
}
