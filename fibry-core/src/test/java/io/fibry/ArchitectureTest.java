package io.fibry;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.fibry.net.HttpException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the dependencies between packages and between types against lists in this file. */
class ArchitectureTest {
  private static final String ENGINE = "io.fibry.engine.";
  private static final String ACTOR_SYSTEM = "io.fibry.ActorSystem";

  /**
   * The layer of each package. A type may depend on its own package and on lower layers only.
   * ActorSystem has a layer of its own.
   */
  static final Map<String, Integer> LAYERS =
      Map.ofEntries(entry("io.fibry.text", 0), entry("io.fibry.engine.world", 0), entry("io.fibry.time", 1),
          entry("io.fibry.mailbox", 1), entry("io.fibry.engine.jvm", 2), entry("io.fibry", 3), entry("io.fibry.spi", 4),
          entry("io.fibry.engine.queue", 5), entry("io.fibry.engine.message", 6), entry("io.fibry.engine.cell", 7),
          entry("io.fibry.engine.actor", 8), entry("io.fibry.engine.scope", 9), entry(ACTOR_SYSTEM, 10),
          entry("io.fibry.block", 11), entry("io.fibry.pool", 12), entry("io.fibry.pubsub", 12),
          entry("io.fibry.flow", 12), entry("io.fibry.fsm", 12), entry("io.fibry.net", 13), entry("io.fibry.io", 13),
          entry("io.fibry.stereotype", 14));

  /** The exported packages with their public types. */
  private static final Map<String, Set<String>> PUBLIC = Map.ofEntries(
      entry("io.fibry",
          Set.of("Actor", "ActorBuilder", "ActorContext", "ActorStats", "ActorScope", "ActorSystem",
              "ActorWithReturn", "ContextPropagator", "DeadLetter",
              "Done",
              "ExitReason", "Exitable", "FailurePolicy", "Handler", "Outcome",
              "Request",
              "Sink", "Strategy", "TextContextPropagator",
              "RequestException",
              "ActorStoppedException", "CircuitOpenException", "AskCycleException",
              "AskTimeoutException",
              "MailboxFullException",
              "NoReplyException")),
      entry("io.fibry.mailbox", Set.of("Mailbox", "Overflow")), entry("io.fibry.fsm", Set.of("Fsm")),
      entry("io.fibry.pool", Set.of("Entities", "Pools")),
      entry("io.fibry.time", Set.of("Scheduler", "ManualScheduler")),
      entry("io.fibry.flow",
          Set.of("Batch", "CircuitBreaker", "HookedFunction", "Pipeline", "RateLimit", "Flows", "Generator",
              "MapReduce",
              "TimeLimit")),
      entry("io.fibry.pubsub", Set.of("Topic", "Subscription", "ObservableValue", "ObservableMap")),
      entry("io.fibry.io", Set.of("Downloader", "Program")),
      entry("io.fibry.net",
          Set.of("AccessLogEntry", "BodyCodec", "HttpException", "HttpExchange", "HttpOptions", "HttpRoutes",
              "HttpServer",
              "TcpAcceptor", "TcpConnection", "TcpOptions", "Tls", "UdpPacket", "UdpServer", "WebSocketClose",
              "WebSocketConnection", "WebSocketMessage", "WebSocketOptions")),
      entry("io.fibry.spi",
          Set.of("AskChain", "BlockBuilder", "ForwardingExitable", "LastingAddress", "MultiStepMessage", "PoolPolicy")),
      entry("io.fibry.stereotype", Set.of("Stereotypes")));

  /** Groups of types that depend on each other, each with its reason. */
  private static final Map<Set<String>, String> CYCLES = Map.ofEntries(
      entry(Set.of("Strategies", "Strategy"), "Strategies creates the strategies that Strategy offers"),
      entry(Set.of("ContextPropagator", "Mdc"), "ContextPropagator.mdc() names its own implementation"),
      entry(Set.of("Scheduler", "SystemScheduler", "TaskScheduler"), "Scheduler.system() names its own implementation"),
      entry(Set.of("ActorBehavior", "Cell", "HandlerContext"), "an actor, its handler and the context of the handler"),
      entry(Set.of("Recipient", "RequestFuture"), "an actor has requests, and a request refers to its actor"),
      entry(Set.of("WaitCycle", "Wait"), "a cycle consists of waits, and a wait looks for cycles"),
      entry(Set.of("GuardedQueue", "SelectiveReceive"), "a part of GuardedQueue, in a separate file"),
      entry(Set.of("KeyLanes", "PoolEntry", "WorkerSlot"),
          "an entry refers to its lane and its worker, and both refer to the entry"),
      entry(Set.of("WorkerSet", "PoolCell", "Worker"), "a pool and its workers"),
      entry(Set.of("DefaultActorBuilder", "DefaultStatefulBuilder"),
          "a builder, and the builder that its initialState returns"),
      entry(Set.of("Entities", "EntityAddress", "DefaultEntities"), "an address finds or creates its entity"),
      entry(Set.of("ActorTopic", "Topic"), "its only implementation, created by a factory method"),
      entry(Set.of("ConcurrentObservableMap", "ObservableMap"), "its only implementation, created by a factory method"),
      entry(Set.of("AtomicObservableValue", "ObservableValue"), "its only implementation, created by a factory method"),
      entry(Set.of("HookChain", "HookedFunction"), "its only implementation, created by a factory method"),
      entry(Set.of("ActorPipeline", "Pipeline"), "its only implementation, created by a factory method"),
      entry(Set.of("ActorGenerator", "Generator", "ReadAheadBuffer"),
          "its only implementation, created by a factory method"),
      entry(Set.of("MapReduce", "MapReduceRun"), "its only implementation, created by a factory method"),
      entry(Set.of("CircuitState", "CircuitBreaker"), "the states of a CircuitBreaker, in a separate file"),
      entry(Set.of("Fsm", "TransitionTable"), "its only implementation, created by a factory method"),
      entry(Set.of("HttpListener", "HttpServer"), "its only implementation, created by a factory method"),
      entry(Set.of("TcpAcceptor", "TcpListener"), "its only implementation, created by a factory method"),
      entry(Set.of("UdpReceiver", "UdpServer"), "its only implementation, created by a factory method"),
      entry(Set.of("DownloadPool", "DownloadRequest", "Downloader"),
          "its only implementation, created by a factory method"));

  static final JavaClasses MAIN = new ClassFileImporter().importPath(Path.of("target/classes"));

  @Test
  void dependenciesGoToLowerLayersOnly() {
    var upwardDependencies = new TreeSet<String>();

    eachDependency((from, to, text) -> {
      if (!layer(from).equals(layer(to)) && LAYERS.get(layer(to)) >= LAYERS.get(layer(from)))
        upwardDependencies.add(text);
    });

    assertEquals(Set.of(), upwardDependencies);
  }

  /** Returns the name of the type's layer in {@link #LAYERS}: its package, or ActorSystem. */
  static String layer(JavaClass type) {
    String name = outermost(type).getName().equals(ACTOR_SYSTEM) ? ACTOR_SYSTEM : type.getPackageName();
    if (!LAYERS.containsKey(name)) throw new AssertionError("package " + name + " has no layer; add it to LAYERS");
    return name;
  }

  @FunctionalInterface
  interface DependencyAction {
    void accept(JavaClass from, JavaClass to, String text);
  }

  static void eachDependency(DependencyAction action) {
    for (var type : MAIN)
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        var target = dependency.getTargetClass().getBaseComponentType();
        if (target.getPackageName().startsWith("io.fibry") && !type.getSimpleName().equals("package-info"))
          action.accept(type, target, dependency.getDescription());
      }
  }

  @Test
  void contractsReachEngineThroughFourTypesOnly() {
    var forbiddenDependencies = new TreeSet<String>();

    eachDependency((from, to, text) -> {
      if (!Set.of("io.fibry", "io.fibry.spi").contains(from.getPackageName())
          || !to.getPackageName().startsWith(ENGINE))
        return;
      String engineDependency = outermost(from).getSimpleName() + " to " + to.getPackageName();
      if (!Set.of("ActorSystem to io.fibry.engine.scope", "Strategies to io.fibry.engine.jvm",
          "RequestException to io.fibry.engine.jvm", "AskChain to io.fibry.engine.jvm").contains(engineDependency))
        forbiddenDependencies.add(text);
    });

    assertEquals(Set.of(), forbiddenDependencies);
  }

  @Test
  void blocksUseContractsOnly() {
    noClasses().that().resideInAnyPackage("..pool", "..pubsub", "..flow", "..fsm", "..net", "..io", "..stereotype")
        .and().resideOutsideOfPackage(ENGINE + ".").should().dependOnClassesThat().resideInAPackage(ENGINE + ".")
        .check(MAIN);
  }

  @Test
  void publicTypesMatchListAndExports() throws Exception {
    var exportedPackages =
        Pattern.compile("exports ([\\w.]+);").matcher(Files.readString(Path.of("src/main/java/module-info.java")))
            .results().map(match -> match.group(1)).collect(Collectors.toSet());

    var publicTypes = MAIN.stream().filter(type -> isPublic(type) && type.isTopLevelClass())
        .filter(type -> exportedPackages.contains(type.getPackageName())).collect(Collectors.groupingBy(
            JavaClass::getPackageName, TreeMap::new, Collectors.mapping(JavaClass::getSimpleName, Collectors.toSet())));

    assertEquals(PUBLIC, publicTypes);
    assertEquals(PUBLIC.keySet(), exportedPackages);
  }

  @Test
  void signaturesOfExportedTypesNameExportedTypes() {
    var violations = new TreeSet<String>();

    for (var type : MAIN) {
      if (!PUBLIC.containsKey(type.getPackageName()) || !isVisible(type)) continue;
      for (var member : type.getMembers()) {
        if (!isPublic(member) && !member.getModifiers().contains(JavaModifier.PROTECTED)) continue;
        for (var involvedType : member.getAllInvolvedRawTypes())
          if (involvedType.getPackageName().startsWith("io.fibry")
              && !PUBLIC.containsKey(involvedType.getPackageName()))
            violations.add(member.getFullName() + " names " + involvedType.getName());
      }
    }

    assertEquals(Set.of(), violations);
  }

  private static boolean isVisible(JavaClass type) {
    return isPublic(type) && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC);
  }

  private static boolean isPublic(JavaMember member) {
    return member.getModifiers().contains(JavaModifier.PUBLIC);
  }

  @Test
  void engineTypesArePublicOnlyIfOtherPackagesUseThem() {
    var needlessNames = new TreeSet<String>();

    for (var type : MAIN) {
      if (!type.getPackageName().startsWith(ENGINE) || type.isInterface() || !isPublic(type)) continue;
      if (type.isTopLevelClass() && isUnused(type)) needlessNames.add(type.getName());
      for (var member : type.getMembers())
        if (isPublic(member) && isNeedlesslyPublic(member)) needlessNames.add(member.getFullName());
    }

    assertEquals(Set.of(), needlessNames, "make them package-private");
  }

  private static boolean isUnused(JavaClass type) {
    return type.getDirectDependenciesToSelf().stream()
        .allMatch(use -> use.getOriginClass().getPackageName().equals(type.getPackageName()));
  }

  /**
   * Returns whether a public member is used in its own package only. Returns false for members of
   * records and enums, for members that the compiler creates, and for overriding methods. Returns
   * false for constants, too, because the compiler copies them to their users.
   */
  private static boolean isNeedlesslyPublic(JavaMember member) {
    var owner = member.getOwner();
    if (owner.isRecord() || owner.isEnum() || member.getModifiers().contains(JavaModifier.SYNTHETIC)
        || member.getName().equals("<clinit>"))
      return false;
    if (member.getModifiers().containsAll(Set.of(JavaModifier.STATIC, JavaModifier.FINAL))
        && member instanceof com.tngtech.archunit.core.domain.JavaField field
        && (field.getRawType().isPrimitive() || field.getRawType().isEquivalentTo(String.class)))
      return false;
    boolean used = member.getAccessesToSelf().stream()
        .anyMatch(use -> !use.getOriginOwner().getPackageName().equals(owner.getPackageName()));
    return !used && !(member instanceof JavaMethod method && overrides(method));
  }

  private static boolean overrides(JavaMethod method) {
    var supertypes = Stream.concat(method.getOwner().getAllRawSuperclasses().stream(),
        method.getOwner().getAllRawInterfaces().stream());
    return supertypes.anyMatch(type -> type.tryGetMethod(method.getName(),
        method.getRawParameterTypes().stream().map(JavaClass::getName).toArray(String[]::new)).isPresent()
        || type.getMethods().stream().anyMatch(candidate -> candidate.getName().equals(method.getName())
            && candidate.getRawParameterTypes().size() == method.getRawParameterTypes().size()));
  }

  @Test
  void dependencyCyclesMatchList() {
    var dependencies = new TreeMap<String, Set<String>>();
    eachDependency((from, to, text) -> {
      if (!outermost(from).equals(outermost(to)))
        dependencies.computeIfAbsent(outermost(from).getName(), name -> new TreeSet<>()).add(outermost(to).getName());
    });

    var cycles = new CycleFinder(dependencies).findCycles().stream().map(cycle -> cycle.stream()
        .map(name -> name.substring(name.lastIndexOf('.') + 1)).collect(Collectors.toSet()))
        .collect(Collectors.toSet());

    assertEquals(CYCLES.keySet(), cycles);
  }

  /** Uses Tarjan's algorithm to find strongly connected components that have more than one type. */
  private record CycleFinder(Map<String, Set<String>> dependencies, Map<String, Integer> numbers, List<String> stack,
      Set<Set<String>> cycles) {
    CycleFinder(Map<String, Set<String>> dependencies) {
      this(dependencies, new HashMap<>(), new java.util.ArrayList<>(), new java.util.HashSet<>());
    }

    Set<Set<String>> findCycles() {
      dependencies.keySet().forEach(this::visit);
      return cycles;
    }

    /**
     * Visits the type. Returns the lowest number among the types that it reaches and that are on
     * the stack.
     */
    private int visit(String type) {
      var knownNumber = numbers.get(type);
      if (knownNumber != null) return stack.contains(type) ? knownNumber : Integer.MAX_VALUE;
      int number = numbers.size();
      numbers.put(type, number);
      int componentStart = stack.size();
      stack.add(type);
      int lowest = number;
      for (var dependency : dependencies.getOrDefault(type, Set.of())) lowest = Math.min(lowest, visit(dependency));
      if (lowest == number) {
        var component = stack.subList(componentStart, stack.size());
        if (component.size() > 1) cycles.add(Set.copyOf(component));
        component.clear();
      }
      return lowest;
    }
  }

  @Test
  void topLevelTypesHaveDifferentNames() {
    var counts = MAIN.stream().filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
        .collect(Collectors.groupingBy(JavaClass::getSimpleName, Collectors.counting()));

    counts.values().removeIf(count -> count == 1);

    assertEquals(Map.of(), counts);
  }

  @Test
  void typesHaveNoRetiredNames() {
    var retiredNames = Set.of("Asked", "Along", "Why", "Rich", "Calm", "Later", "Rarely", "Handled", "Hooked", "Parked",
        "Ranked", "Resting", "Choosing", "Living", "Way", "Look", "Rest", "Life", "Turn", "Burial", "Recipe");

    assertEquals(List.of(),
        MAIN.stream().map(JavaClass::getSimpleName).filter(name -> retiredNames.contains(name)
            || name.matches(".*(Impl|Base|Util|Utils|Manager|Helper)") || name.matches("Abstract.*|I[A-Z][a-z].*"))
            .toList());
  }

  @Test
  void coreDependsOnJdkAndSlf4jOnly() {
    var foreignTypes = new TreeSet<String>();

    for (var type : MAIN)
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        var target = dependency.getTargetClass().getBaseComponentType();
        if (!target.isPrimitive() && !isAllowed(target)) foreignTypes.add(target.getName());
      }

    assertEquals(Set.of(), foreignTypes);
  }

  private static boolean isAllowed(JavaClass type) {
    String name = type.getPackageName();
    if (name.startsWith("io.fibry") || name.equals("org.slf4j") || name.equals("jdk.jfr")
        || name.equals("java.net.http") || name.equals("org.jspecify.annotations"))
      return true;
    return Object.class.getModule().isExported(name);
  }

  @Test
  void exceptionTypesExtendRequestException() { // except for HttpException, which is an HTTP response
    var otherExceptions = MAIN.stream().filter(type -> type.isAssignableTo(Throwable.class) && type.isTopLevelClass()
        && !type.isAssignableTo(RequestException.class) && !type.isEquivalentTo(HttpException.class)).toList();

    assertEquals(List.of(), otherExceptions);
  }

  static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
  }
}
