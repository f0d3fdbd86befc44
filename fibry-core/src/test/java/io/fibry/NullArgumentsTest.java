package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.fibry.flow.Generator;
import io.fibry.flow.HookedFunction;
import io.fibry.io.Program;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** The text is the name, not the JVM's: that says "local4" of an array, or nothing. */
class NullArgumentsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ActorScope scope = Variants.scope(o -> o);
  private final List<DynamicTest> cases = new ArrayList<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private void put(String call, String name, Executable code) {
    cases.add(dynamicTest(call + ", " + name,
        () -> assertEquals(name, assertThrows(NullPointerException.class, code).getMessage())));
  }

  @TestFactory
  Stream<DynamicTest> nullIsRefusedByName() {
    actors();
    timesAndPlans();
    blocks();
    return cases.stream();
  }

  private void actors() {
    var actor = scope.anonymous().newActorWithReturn((Object m) -> m);
    var topic = Topic.open(scope.anonymous());
    put("closeOnExit", "resources", () -> actor.closeOnExit((AutoCloseable[]) null));
    put("closeOnExit of a topic", "resources", () -> topic.closeOnExit((AutoCloseable[]) null));
    put("closeOnExit of a topic", "a resource", () -> topic.closeOnExit((AutoCloseable) null));
    put("sendMessages", "block", () -> actor.sendMessages(null));
    put("ask of a request", "request", () -> actor.ask((Request<Object, Object>) null));
    put("ask of a request within", "request", () -> actor.ask((Request<Object, Object>) null, SECOND));
    put("sendMessageReturn", "request", () -> actor.sendMessageReturn((Request<Object, Object>) null));
    put("ask", "limit", () -> actor.ask("x", null));
    put("onFailure", "policy", () -> scope.anonymous().onFailure(null));
    put("named", "name", () -> scope.named(null));
    put("openScope", "name", () -> scope.openScope(null, UnaryOperator.identity()));
    put("withDeadLetters", "listener", () -> ActorScope.Options.defaults().withDeadLetters(null));
    put("AskCycleException", "ring", () -> new AskCycleException("text", "actor", "request", null));
  }

  private void timesAndPlans() {
    put("withBudget", "within", () -> FailurePolicy.restart().withBudget(1, null));
    put("withBackoff", "first", () -> FailurePolicy.restart().withBackoff(null, SECOND));
    put("withBackoff", "most", () -> FailurePolicy.restart().withBackoff(SECOND, null));
    put("capacityFor", "limit", () -> Mailbox.capacityFor(null, SECOND, 1));
    put("capacityFor", "service", () -> Mailbox.capacityFor(SECOND, null, 1));
    put("within", "target", () -> Mailbox.bounded(1, Overflow.REJECT).withMaxWait(null));
    put("advance", "by", () -> new ManualScheduler().advance(null));
    for (var clock : List.of(new ManualScheduler(), Scheduler.system())) {
      put("after", "delay", () -> clock.schedule(null, () -> {}));
      put("scheduleAtFixedRate", "initial", () -> clock.scheduleAtFixedRate(null, SECOND, () -> {}));
      put("scheduleAtFixedRate", "period", () -> clock.scheduleAtFixedRate(SECOND, null, () -> {}));
      put("scheduleWithFixedDelay", "initial", () -> clock.scheduleWithFixedDelay(null, SECOND, () -> {}));
      put("scheduleWithFixedDelay", "delay", () -> clock.scheduleWithFixedDelay(SECOND, null, () -> {}));
    }
  }

  private void blocks() {
    var program = Program.of(Path.of("/bin/true"));
    put("Generator.of", "producers",
        () -> Generator.of(scope.anonymous(), 1, (Handler<Generator.Output<Object>>[]) null));
    put("generator", "producers", () -> Stereotypes.def().generator(1, (Handler<Generator.Output<Object>>[]) null));
    put("Hooks", "message", () -> HookedFunction.around(scope.anonymous(), m -> m).handle(null));
    put("run", "arguments", () -> program.run((String[]) null));
    put("run", "an argument", () -> program.run((String) null));
    put("run with input", "arguments", () -> program.run(new byte[0], null));
    put("perMessage", "builder", () -> Pools.perMessage(null));
    put("fixed", "builder", () -> Pools.fixed(null, 1));
    put("scaling", "builder", () -> Pools.scaling(null, 1, 2));
    put("weighted", "builder", () -> Pools.weighted(null, 1, m -> 1));
    put("byKey", "builder", () -> Pools.byKey(null, 1, m -> m));
  }

  @Test
  void receiveRefusesNullByName() {
    var texts = new CompletableFuture<List<String>>();
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> texts.complete(Stream.<Executable>of(
            () -> context.receive(null, SECOND), () -> context.receive(String.class, null, SECOND),
            () -> context.receive(String.class, null))
            .map(code -> assertThrows(NullPointerException.class, code).getMessage()).toList()));

    actor.sendMessage("go");

    assertEquals(List.of("type", "which", "limit"), Patience.value(texts));
  }
}
