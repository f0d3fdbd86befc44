package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DumpTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("shop", o -> o.withScheduler(clock));

  @AfterEach
  void cleanUp() {
    Gate.openAllAndClose(scope, clock);
  }

  private Actor<Object> actor(ActorBuilder<Object> builder) {
    return builder.onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {
      if (m instanceof Gate gate) gate.passUninterruptibly();
      if (m instanceof Exception failure) throw failure;
    });
  }

  private List<String> lines() {
    return scope.dump().lines().toList();
  }

  private void assertDumpHasLine(String pattern) {
    assertTrue(lines().stream().anyMatch(line -> line.matches(pattern)), scope::dump);
  }

  @Promise("19.7")
  @Test
  void dumpTreeIsIndentedInCreationOrder() {
    actor(scope.named("a"));
    var inner = scope.openScope("inner");
    actor(inner.named("b"));
    actor(scope.named("c").strategy(Strategy.THREAD));

    var outline = lines().stream().map(line -> line.replaceAll("(:|\\)).*", "$1")).toList();

    assertEquals(List.of("scope 'shop':", "  a (FIBER)", "  scope 'inner':", "    b (FIBER)", "  c (THREAD)"), outline);
  }

  @Promise("19.7")
  @Test
  void dumpShowsCountsOfScopeAndActor() {
    var actor = actor(scope.named("clerk"));
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    actor.sendMessage(new IOException("planned"));
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertDumpHasLine("scope 'shop': 5 handled, 1 failed, 0 waiting");
    assertDumpHasLine("  clerk \\(FIBER\\): idle; 5 handled, 1 failed");
  }

  @Promise("19.7")
  @Test
  void dumpShowsMessageAndQueueSizeOfBusyActor() {
    var actor = actor(scope.named("clerk"));
    Gate.occupy(actor);
    for (int i = 0; i < 3; i++) actor.sendMessage(i);

    assertDumpHasLine("  clerk \\(FIBER\\): is handling .*Gate.*; 3 waiting; 0 handled");
  }

  @Promise("19.7")
  @Test
  void dumpShowsSuspendedActor() {
    var actor = scope.named("tired")
        .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog())
        .newActor((Object m) -> {
          throw new IOException("planned");
        });
    actor.sendMessage(1);
    Patience.eventually(() -> ActorInternals.isSuspended(actor));
    actor.sendMessage(2);

    assertDumpHasLine("  tired .*: is suspended after a failure; 1 waiting; 0 handled, 1 failed");
  }

  @Promise("19.7")
  @Test
  void dumpShowsActorWithoutThread() {
    var actor = actor(scope.named("starved").strategy(Strategy.of(task -> {})));
    actor.sendMessage(1);

    assertDumpHasLine("  starved .*: has been given no thread yet by Strategy\\.of\\(.*; 1 waiting; 0 handled");
  }

  @Promise("19.7")
  @Test
  void dumpShowsCutOffActorThatStillRuns() {
    var actor = actor(scope.named("zombie"));
    Gate.occupy(actor);
    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.awaitEnd(actor::waitForExit);

    assertDumpHasLine("  zombie .*: cut off, its handler still runs; 0 handled");
  }

  @Promise("19.7")
  @Test
  void dumpShowsClosingScope() {
    var inner = scope.openScope("inner");
    var gate = Gate.occupy(actor(scope.named("clerk")));
    actor(inner.named("helper"));
    var closer = Patience.startFiber(scope::close);
    Patience.awaitParked(closer);

    assertDumpHasLine("scope 'shop', closing: .*");

    gate.open();
    Patience.awaitEnd(closer);
  }

  @Test
  void dumpShowsIdleActorOfEachStrategyAndMailbox() {
    for (var variant : Variants.all().toList()) actor(variant.builder(scope));

    assertEquals(Variants.all().count() + 1, lines().size());
    assertTrue(lines().stream().skip(1).allMatch(line -> line.endsWith(": idle; 0 handled")), scope::dump);
  }
}
