package io.fibry.rules;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Checks that blocks create their actors in the scope of their builder. A block that uses the root
 * scope ignores the clock, the limits, the context propagators and the dead-letter listener of its
 * user's scope. So each file of a library that names the root scope has a reason here.
 */
class RootScopeRulesTest {
  private static final Pattern ROOT_SCOPE =
      Pattern
          .compile("\\bActorSystem\\s*(\\.|::)\\s*(anonymous|named|root|configure|find|openScope|setDefaultStrategy)\\b"
              + "|\\bScope\\s*(\\.|::)\\s*root\\b|\\bProcessRoot\\b|\\bimport static io\\.fibry\\.ActorSystem\\b");

  private static final String SERVER = "is a server of this process, which belongs to no scope of a user";

  private static final Map<String, String> REASONS = Map.ofEntries(
      entry("fibry-core/ActorSystem.java", "is the root scope"),
      entry("fibry-core/Scope.java", "creates the root scope"),
      entry("fibry-core/FlowBridges.java", "a publisher without a builder works in the root scope, as promised"),
      entry("fibry-core/Stereotypes.java", "creates actors for users who do not use scopes"),
      entry("fibry-kotlin/Actors.kt", "uses a builder of the root scope by default"),
      entry("fibry-kotlin/Builders.kt", "uses a builder of the root scope by default"),
      entry("fibry-kotlin/Dispatchers.kt", "is created from a strategy, which belongs to no scope"),
      entry("fibry-core/UdpReceiver.java",
          "waits for packets with the system clock, and users see its handler only"),
      entry("fibry-core/SubscriberWatch.java",
          "handles no messages of users, and must not delay the end of its topic's scope"),
      entry("fibry-cluster/Cluster.java", "uses the root scope by default"),
      entry("fibry-cluster/MemoryNetwork.java", SERVER),
      entry("fibry-cluster/MemoryQueue.java", SERVER),
      entry("fibry-cluster/MemoryTable.java", SERVER),
      entry("fibry-dashboard/Dashboard.java", "shows all scopes, and has its own scope"),
      entry("fibry-spring-boot-starter/FiberPool.java", "runs tasks of Spring in its own scope"),
      entry("fibry-spring-boot-starter/FibryAutoConfiguration.java", "opens the scope of the application"),
      entry("fibry-test/TestScope.java", "opens the scope of a test"),
      entry("fibry-nats/RequestMultiplexer.java", "starts limits of requests, which belong to no scope"),
      entry("fibry-nats/WorkConsumer.java", "passes work of NATS to workers in the scope of the cluster"),
      entry("fibry-simulation/SimulatedNode.java", "is the root scope of a simulated process"),
      entry("fibry-simulation/ProgramRun.java", "closes the root scope of a simulated process"));

  @Test
  void onlyListedFilesReferToRootScope() throws IOException {
    var files = new TreeSet<String>();
    Repository.libraryCode().forEach((file, code) -> {
      if (namesRoot(code)) files.add(file.replaceFirst("(?:integrations/)?([^/]+)/.*/", "$1/"));
    });

    assertEquals(new TreeSet<>(REASONS.keySet()), files);
  }

  private static boolean namesRoot(String code) {
    return ROOT_SCOPE.matcher(code).find();
  }

  @Test
  void ruleFindsEveryReferenceToRootScope() {
    for (var code : new String[] {"ActorSystem.anonymous()", "ActorSystem\n  .named(name)", "ActorSystem::anonymous",
      "ActorSystem.openScope(name)", "ActorSystem.setDefaultStrategy(strategy)",
      "Scope.root()", "import static io.fibry.ActorSystem.anonymous;"})
      assertTrue(namesRoot(Repository.code(code)), code);
    for (var code : new String[] {"scope.anonymous()", "  // ActorSystem.anonymous()", "scope.openScope(name)"})
      assertFalse(namesRoot(Repository.code(code)), code);
  }
}
