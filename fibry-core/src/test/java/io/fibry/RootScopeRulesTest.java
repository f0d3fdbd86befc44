package io.fibry;

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
 * Blocks make their actors in the scope of their builder. A block that works in the root scope
 * ignores the clock, the limit, the carriers and the dead letters of its user's scope, and the user
 * cannot see it. So each file of a library that names the root scope has a reason here.
 */
class RootScopeRulesTest {
  private static final Pattern ROOT_SCOPE =
      Pattern
          .compile("\\bActorSystem\\s*(\\.|::)\\s*(anonymous|named|root|configure|find|openScope|setDefaultStrategy)\\b"
              + "|\\bScope\\s*(\\.|::)\\s*(root|ROOT)\\b|\\bScope ROOT\\b|\\bimport static io\\.fibry\\.ActorSystem\\b");

  private static final String SERVER = "is a server in this process, and so in the scope of none of its users";

  private static final Map<String, String> REASONS = Map.ofEntries(
      entry("fibry-core/ActorSystem.java", "is the root scope"),
      entry("fibry-core/Scope.java", "makes the root scope"),
      entry("fibry-core/Flows.java", "a publisher without a builder is promised to work in the root scope"),
      entry("fibry-core/Stereotypes.java", "its users want actors without a word about scopes"),
      entry("fibry-kotlin/Actors.kt", "its builder is the root's unless told otherwise"),
      entry("fibry-kotlin/Builders.kt", "its builder is the root's unless told otherwise"),
      entry("fibry-kotlin/Dispatchers.kt", "is made of a strategy, which is in no scope"),
      entry("fibry-core/UdpReceiver.java",
          "waits for packets by the clock of the system, and users see its handler only"),
      entry("fibry-core/SubscriberWatch.java",
          "handles nothing of a user, and must not keep the scope of its topic alive"),
      entry("fibry-cluster/Cluster.java", "its scope is the root unless told otherwise"),
      entry("fibry-cluster/MemoryNetwork.java", SERVER),
      entry("fibry-cluster/MemoryQueue.java", SERVER),
      entry("fibry-cluster/MemoryTable.java", SERVER),
      entry("fibry-dashboard/Dashboard.java", "shows all scopes, and is in a scope of its own beside them"),
      entry("fibry-spring-boot-starter/FiberPool.java", "runs tasks of Spring, in a scope of its own"),
      entry("fibry-spring-boot-starter/FibryAutoConfiguration.java", "opens the scope of the application"),
      entry("fibry-test/TestScope.java", "opens the scope of a test"),
      entry("fibry-nats/WorkConsumer.java", "hands work of NATS to the workers, who are in the scope of the cluster"),
      entry("fibry-simulation/SimulatedNode.java", "is the root scope of a simulated process"),
      entry("fibry-simulation/ProgramRun.java", "closes the root scope of a simulated process"));

  @Test
  void eachFileThatNamesTheRootScopeHasAReason() throws IOException {
    var found = new TreeSet<String>();
    Repository.libraryCode().forEach((file, code) -> {
      if (namesRoot(code)) found.add(file.replaceFirst("(?:integrations/)?([^/]+)/.*/", "$1/"));
    });

    assertEquals(new TreeSet<>(REASONS.keySet()), found);
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
