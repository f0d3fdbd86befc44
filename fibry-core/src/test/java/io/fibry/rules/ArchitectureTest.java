package io.fibry.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import io.fibry.RequestException;
import io.fibry.net.HttpException;
import io.fibry.support.ArchitectureRules;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The structure of the core: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  private static final String ENGINE = "io.fibry.engine.";
  private static final String ACTOR_SYSTEM = "io.fibry.ActorSystem";

  private static final List<Set<String>> LAYERS = List.of(
      Set.of("io.fibry.text", "io.fibry.engine.world", "io.fibry.engine.carrier"),
      Set.of("io.fibry.engine.timer"),
      Set.of("io.fibry.time", "io.fibry.mailbox"),
      Set.of("io.fibry.engine.jvm"),
      Set.of("io.fibry"),
      Set.of("io.fibry.spi"),
      Set.of("io.fibry.engine.queue"),
      Set.of("io.fibry.engine.message"),
      Set.of("io.fibry.engine.cell"),
      Set.of("io.fibry.engine.actor"),
      Set.of("io.fibry.engine.scope"),
      Set.of(ACTOR_SYSTEM),
      Set.of("io.fibry.block"),
      Set.of("io.fibry.pool", "io.fibry.pubsub", "io.fibry.flow", "io.fibry.fsm", "io.fibry.net.socket"),
      Set.of("io.fibry.net", "io.fibry.io"),
      Set.of("io.fibry.net.tcp", "io.fibry.net.udp", "io.fibry.net.http"),
      Set.of("io.fibry.net.websocket"),
      Set.of("io.fibry.stereotype"));

  /** The exported packages with their public types. */
  private static final Map<String, Set<String>> PUBLIC = Map.ofEntries(
      entry("io.fibry",
          Set.of("Actor", "ActorBuilder", "ActorContext", "ActorStats", "ActorScope", "ActorSystem",
              "ActorWithReturn", "ContextPropagator", "DeadLetter",
              "Done",
              "ExitReason", "Exitable", "RequestOutcome", "FailurePolicy", "Handler",
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
          Set.of("Batch", "CircuitBreaker", "HookedFunction", "Pipeline", "RateLimit", "FlowBridges", "Generator",
              "MapReduce", "MultiAsk", "TimeLimit")),
      entry("io.fibry.pubsub", Set.of("Topic", "Subscription", "SubscriberTotals", "ObservableValue", "ObservableMap")),
      entry("io.fibry.io", Set.of("Downloader", "Program")),
      entry("io.fibry.net",
          Set.of("AccessLogEntry", "AccessLogFormat", "BodyCodec", "ErrorBody", "HttpException", "HttpExchange",
              "HttpOptions", "HttpRoutes", "HttpServer",
              "TcpAcceptor", "TcpConnection", "TcpOptions", "ServerTls", "UdpPacket", "UdpServer", "WebSocketClose",
              "WebSocketConnection", "WebSocketMessage", "WebSocketOptions")),
      entry("io.fibry.spi",
          Set.of("ActorNames", "ActorSamples", "ActorTotals", "AnswerObserver", "AskChain", "BlockBuilder",
              "EncodedAsk", "ForwardingExitable", "MessageTimer", "MultiStepMessage", "PoolSpec", "PromptReceiver",
              "StableAddress")),
      entry("io.fibry.stereotype", Set.of("Stereotypes")));

  private static final String OPTIONS = "options of users, with their checks and values behind the API";

  private static final Map<String, String> EXEMPT = Map.ofEntries(
      entry("ContextPropagator to Mdc", FACTORY), entry("Downloader to DownloadPool", FACTORY),
      entry("Fsm to TransitionTable", FACTORY), entry("Generator to ActorGenerator", FACTORY),
      entry("HookedFunction to HookChain", FACTORY), entry("HttpOptions to HostNames", OPTIONS),
      entry("HttpOptions to HttpSettings", OPTIONS), entry("HttpOptions to TrustedProxies", OPTIONS),
      entry("HttpRoutes to RouteTable", FACTORY),
      entry("HttpRoutes to WebSocketHandshake", FACTORY), entry("HttpServer to HttpListener", FACTORY),
      entry("MapReduce to MapReduceRun", FACTORY),
      entry("ObservableMap to ConcurrentObservableMap", FACTORY),
      entry("ObservableValue to AtomicObservableValue", FACTORY), entry("Pipeline to ActorPipeline", FACTORY),
      entry("Scheduler to SystemScheduler", FACTORY), entry("Strategy to Strategies", FACTORY),
      entry("TcpAcceptor to Forwarder", FACTORY), entry("TcpAcceptor to TcpListener", FACTORY),
      entry("TcpOptions to TcpSettings", OPTIONS), entry("Topic to ActorTopic", FACTORY),
      entry("UdpServer to UdpReceiver", FACTORY), entry("UdpServer to UdpSettings", OPTIONS),
      entry("WebSocketOptions to RequestHead", OPTIONS), entry("WebSocketOptions to WebSocketSettings", OPTIONS));

  private static final Map<Set<String>, String> CYCLES = Map.ofEntries(
      entry(Set.of("PlainQueue", "Cell", "Activation", "HandlerContext", "ActorBehavior", "DeadLetters",
          "FailureHandler"),
          "an actor: its queue, its cell, its activation, the context of its handler and its behavior, "
              + "with what becomes of its failures and its lost messages"),
      entry(Set.of("Recipient", "RequestFuture"), "an actor has requests, and a request refers to its actor"),
      entry(Set.of("WaitCycle", "Wait"), "a cycle consists of waits, and a wait looks for cycles"),
      entry(Set.of("GuardedQueue", "SelectiveReceive"), "a part of GuardedQueue, in a separate file"),
      entry(Set.of("KeyLanes", "PoolEntry", "WorkerSlot"),
          "an entry refers to its lane and its worker, and both refer to the entry"),
      entry(Set.of("WorkerSet", "PoolCell", "PoolWorker", "Worker"), "a pool and its workers"),
      entry(Set.of("DefaultActorBuilder", "DefaultStatefulBuilder"),
          "a builder, and the builder that its initialState returns"),
      entry(Set.of("TimerQueue", "TimerNode", "TimerList"), "a queue of timers, and the timers that are its nodes"),
      entry(Set.of("TimedMessage", "ReplaceableMessage"), "a timed message, and its subclass with a key or a period"),
      entry(Set.of("Entities", "EntityAddress", "DefaultEntities"), "an address finds or creates its entity"),
      entry(Set.of("CircuitState", "CircuitBreaker"), "the states of a CircuitBreaker, in a separate file"));

  @Override
  protected List<Set<String>> layers() {
    return LAYERS;
  }

  @Override
  protected Map<String, Set<String>> publicTypes() {
    return PUBLIC;
  }

  @Override
  protected Map<String, String> exemptDependencies() {
    return EXEMPT;
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return CYCLES;
  }

  @Override
  protected Map<String, Integer> largePackages() {
    return Map.of("io.fibry", 28, "io.fibry.net.socket", 30);
  }

  @Test
  void apiPackagesReachEngineThroughFiveTypesOnly() {
    var forbiddenDependencies = new TreeSet<String>();

    eachDependency((from, to, text) -> {
      if (!Set.of("io.fibry", "io.fibry.spi").contains(from.getPackageName())
          || !to.getPackageName().startsWith(ENGINE))
        return;
      String engineDependency = outermost(from).getSimpleName() + " to " + to.getPackageName();
      if (!Set.of("ActorSystem to io.fibry.engine.scope", "Strategies to io.fibry.engine.jvm",
          "RequestException to io.fibry.engine.jvm", "AskChain to io.fibry.engine.jvm",
          "AnswerObserver to io.fibry.engine.jvm").contains(engineDependency))
        forbiddenDependencies.add(text);
    });

    assertEquals(Set.of(), forbiddenDependencies);
  }

  @Test
  void blocksDoNotDependOnEngine() {
    noClasses().that().resideInAnyPackage("..pool", "..pubsub", "..flow", "..fsm", "..net..", "..io", "..stereotype")
        .and().resideOutsideOfPackage(ENGINE + ".").should().dependOnClassesThat().resideInAPackage(ENGINE + ".")
        .check(MAIN);
  }

  @Test
  void typesHaveNoRetiredNames() {
    var retiredNames = Set.of("Asked", "Along", "Why", "Rich", "Calm", "Later", "Rarely", "Handled", "Hooked", "Parked",
        "Ranked", "Resting", "Choosing", "Living", "Way", "Look", "Rest", "Life", "Turn", "Burial", "Recipe");

    assertEquals(List.of(),
        MAIN.stream().map(JavaClass::getSimpleName).filter(retiredNames::contains).toList());
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
    if (name.startsWith("io.fibry") || name.startsWith("org.slf4j") || name.equals("jdk.jfr")
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
}
