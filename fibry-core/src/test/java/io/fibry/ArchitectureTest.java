package io.fibry;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules of the code base that code can check. */
class ArchitectureTest {
  /** Imports go to lower layers only, never to a sibling. */
  static final Map<String, Integer> LAYERS = Map.ofEntries(entry("io.fibry.mailbox", 0), entry("io.fibry.time", 0),
      entry("io.fibry.engine.queue", 1), entry("io.fibry", 2), entry("io.fibry.pool", 3), entry("io.fibry.pubsub", 3),
      entry("io.fibry.flow", 3), entry("io.fibry.fsm", 3), entry("io.fibry.net", 4), entry("io.fibry.io", 4),
      entry("io.fibry.stereotype", 5));

  /** What users see; and of the engine, which is not exported, what its rooms see of each other. */
  private static final Map<String, Set<String>> PUBLIC = Map.ofEntries(
      entry("io.fibry",
          Set.of("Actor", "ActorBuilder", "ActorContext", "ActorScope", "ActorSystem", "ActorWithReturn", "DeadLetter",
              "ExitReason", "Exitable", "FailurePolicy", "Handler", "Request", "Sink", "Strategy",
              "RequestException", "ActorStoppedException", "AskCycleException", "AskTimeoutException",
              "MailboxFullException", "NoReplyException")),
      entry("io.fibry.mailbox",
          Set.of("Mailbox", "Overflow", "Sharing")),
      entry("io.fibry.engine.queue",
          Set.of("GuardedQueue", "SharedQueue", "Entry", "MessageEntry", "RankedEntry", "WorkerSlot", "Blockers")),
      entry("io.fibry.fsm", Set.of("Fsm")),
      entry("io.fibry.pool", Set.of("Entities", "Pools")),
      entry("io.fibry.time", Set.of("Scheduler", "ManualClock")),
      entry("io.fibry.flow", Set.of("Batch", "Hooks", "Pipeline", "RateLimit", "Flows", "Generator", "MapReduce")),
      entry("io.fibry.pubsub", Set.of("Topic", "Subscription", "SharedValue", "SharedMap")),
      entry("io.fibry.io", Set.of("Downloader", "Program")),
      entry("io.fibry.net",
          Set.of("Exchange", "HttpOptions", "HttpRoutes", "HttpServer", "TcpAcceptor", "TcpConnection", "TcpOptions",
              "UdpPacket", "UdpServer")),
      entry("io.fibry.stereotype", Set.of("Stereotypes")));

  /** Tests that may sleep, each with its reason. */
  private static final Map<String, String> SLEEPERS = Map.of();

  static final JavaClasses MAIN = new ClassFileImporter().importPath(Path.of("target/classes"));

  @Test
  void importsGoToLowerLayersOnly() {
    var upward = new TreeSet<String>();

    for (var type : MAIN)
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        String from = room(type.getPackageName());
        String to = room(dependency.getTargetClass().getBaseComponentType().getPackageName());
        if (to.startsWith("io.fibry") && !to.equals(from) && layer(to) >= layer(from))
          upward.add(dependency.getDescription());
      }

    assertEquals(Set.of(), upward);
  }

  private static String room(String name) {
    return name.startsWith("io.fibry.engine.") ? "io.fibry" : name;
  }

  private static int layer(String name) {
    if (!LAYERS.containsKey(name))
      throw new AssertionError("package " + name + " has no layer: give it one here and in the design");
    return LAYERS.get(name);
  }

  @Test
  void coreNeedsTheJdkAndSlf4jOnly() {
    var foreign = new TreeSet<String>();

    for (var type : MAIN)
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        var target = dependency.getTargetClass().getBaseComponentType();
        if (!target.isPrimitive() && !allowed(target)) foreign.add(target.getName());
      }

    assertEquals(Set.of(), foreign);
  }

  private static boolean allowed(JavaClass type) {
    String name = type.getPackageName();
    if (name.startsWith("io.fibry") || name.equals("org.slf4j") || name.equals("jdk.jfr")
        || name.equals("java.net.http") || name.equals("org.jspecify.annotations"))
      return true;
    return Object.class.getModule().isExported(name);
  }

  @Test
  void nothingIsPrinted() {
    noClasses().should().accessField(System.class, "out").orShould().accessField(System.class, "err").orShould()
        .callMethod(Throwable.class, "printStackTrace").check(MAIN);
  }

  @Test
  void nothingSleeps() {
    noClasses().should().callMethod(Thread.class, "sleep", long.class).orShould()
        .callMethod(Thread.class, "sleep", long.class, int.class).orShould()
        .callMethod(Thread.class, "sleep", java.time.Duration.class).check(MAIN);
  }

  @Test
  void testsDoNotSleep() {
    var sleeping = new TreeSet<String>();

    for (var type : new ClassFileImporter().importPath(Path.of("target/test-classes")))
      for (var call : type.getMethodCallsFromSelf())
        if (call.getTargetOwner().isEquivalentTo(Thread.class) && call.getName().equals("sleep"))
          sleeping.add(outermost(type).getSimpleName());

    assertEquals(SLEEPERS.keySet(), sleeping,
        "wait for something that happens instead; or list the class, with its reason");
  }

  private static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
  }

  @Test
  void publicTypesAreThoseListed() {
    var open =
        MAIN.stream().filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC) && type.isTopLevelClass()
            && !type.getPackageName().startsWith("io.fibry.engine."));

    var found = open.collect(Collectors.groupingBy(JavaClass::getPackageName, TreeMap::new,
        Collectors.mapping(JavaClass::getSimpleName, Collectors.toSet())));

    assertEquals(PUBLIC, found);
  }

  @Test
  void exceptionsAreRequestExceptionsOrTheJdksOwn() {
    var others = MAIN.stream().filter(type -> type.isAssignableTo(Throwable.class) && type.isTopLevelClass()
        && !type.isAssignableTo(RequestException.class)).toList();

    assertEquals(List.of(), others);
  }

  @Test
  void filesAreShort() throws Exception {
    var sizes = sizes("src/main/java");

    assertTrue(sizes.get(sizes.size() / 2) <= 100, "the median file has " + sizes.get(sizes.size() / 2) + " lines");
  }

  @Test
  void noFileIsLong() throws Exception {
    var longest = Stream.of("src/main/java", "src/test/java").map(ArchitectureTest::sizes).map(List::getLast).toList();

    assertTrue(longest.stream().allMatch(lines -> lines <= 400),
        "lines of the longest file, of main and of the tests: " + longest);
  }

  private static List<Integer> sizes(String folder) {
    var sizes = new ArrayList<Integer>();
    try (var files = Files.walk(Path.of(folder))) {
      for (var file : files.filter(path -> path.toString().endsWith(".java")).toList())
        sizes.add(Files.readAllLines(file).size());
    } catch (java.io.IOException unreadable) {
      throw new java.io.UncheckedIOException(unreadable);
    }
    sizes.sort(null);
    return sizes;
  }
}
