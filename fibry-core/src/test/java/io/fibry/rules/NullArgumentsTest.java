package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.AskCycleException;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.flow.Generator;
import io.fibry.flow.HookedFunction;
import io.fibry.io.Program;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import io.fibry.testing.Variants;
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

/**
 * Tests that the exception for a null argument has the name of the parameter as its text, and no
 * text of the JVM.
 */
class NullArgumentsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ActorScope scope = Variants.scope(o -> o);
  private final List<DynamicTest> cases = new ArrayList<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private void addCase(String call, String name, Executable code) {
    cases.add(dynamicTest(call + ", " + name,
        () -> assertEquals(name, assertThrows(NullPointerException.class, code).getMessage())));
  }

  @TestFactory
  Stream<DynamicTest> exceptionNamesNullArgument() {
    addActors();
    addTimes();
    addBlocks();
    return cases.stream();
  }

  private void addActors() {
    var actor = scope.anonymous().newActorWithReturn((Object m) -> m);
    var topic = Topic.open(scope.anonymous());
    addCase("closeOnExit", "resources", () -> actor.closeOnExit((AutoCloseable[]) null));
    addCase("closeOnExit of a topic", "resources", () -> topic.closeOnExit((AutoCloseable[]) null));
    addCase("closeOnExit of a topic", "a resource", () -> topic.closeOnExit((AutoCloseable) null));
    addCase("sendMessages", "block", () -> actor.sendMessages(null));
    addCase("ask of a request", "request", () -> actor.ask((Request<Object, Object>) null));
    addCase("ask of a request within", "request", () -> actor.ask((Request<Object, Object>) null, SECOND));
    addCase("sendMessageReturn", "request", () -> actor.sendMessageReturn((Request<Object, Object>) null));
    addCase("ask", "limit", () -> actor.ask("x", null));
    addCase("onFailure", "policy", () -> scope.anonymous().onFailure(null));
    addCase("named", "name", () -> scope.named(null));
    addCase("openScope", "name", () -> scope.openScope(null, UnaryOperator.identity()));
    addCase("withDeadLetterListener", "listener", () -> ActorScope.Options.defaults().withDeadLetterListener(null));
    addCase("AskCycleException", "cycle", () -> new AskCycleException("text", "actor", "request", null));
  }

  private void addTimes() {
    addCase("withBudget", "period", () -> FailurePolicy.restart().withBudget(1, null));
    addCase("withBackoff", "initial", () -> FailurePolicy.restart().withBackoff(null, SECOND));
    addCase("withBackoff", "max", () -> FailurePolicy.restart().withBackoff(SECOND, null));
    addCase("capacityFor", "limit", () -> Mailbox.capacityFor(null, SECOND, 1));
    addCase("capacityFor", "service", () -> Mailbox.capacityFor(SECOND, null, 1));
    addCase("within", "target", () -> Mailbox.bounded(1, Overflow.REJECT).withMaxWait(null));
    addCase("advance", "duration", () -> new ManualScheduler().advance(null));
    for (var clock : List.of(new ManualScheduler(), Scheduler.system())) {
      addCase("after", "delay", () -> clock.schedule(null, () -> {}));
      addCase("sleep", "delay", () -> clock.sleep(null));
      addCase("scheduleAtFixedRate", "initial", () -> clock.scheduleAtFixedRate(null, SECOND, () -> {}));
      addCase("scheduleAtFixedRate", "period", () -> clock.scheduleAtFixedRate(SECOND, null, () -> {}));
      addCase("scheduleWithFixedDelay", "initial", () -> clock.scheduleWithFixedDelay(null, SECOND, () -> {}));
      addCase("scheduleWithFixedDelay", "delay", () -> clock.scheduleWithFixedDelay(SECOND, null, () -> {}));
    }
  }

  private void addBlocks() {
    var program = Program.of(Path.of("/bin/true"));
    addCase("Generator.of", "producers",
        () -> Generator.of(scope.anonymous(), 1, (Handler<Generator.Output<Object>>[]) null));
    addCase("generator", "producers", () -> Stereotypes.def().generator(1, (Handler<Generator.Output<Object>>[]) null));
    addCase("Hooks", "message", () -> HookedFunction.around(scope.anonymous(), m -> m).handle(null));
    addCase("run", "arguments", () -> program.run((String[]) null));
    addCase("run", "an argument", () -> program.run((String) null));
    addCase("run with input", "arguments", () -> program.run(new byte[0], null));
    addCase("perMessage", "builder", () -> Pools.perMessage(null));
    addCase("fixed", "builder", () -> Pools.fixed(null, 1));
    addCase("scaling", "builder", () -> Pools.scaling(null, 1, 2));
    addCase("weighted", "builder", () -> Pools.weighted(null, 1, m -> 1));
    addCase("byKey", "builder", () -> Pools.byKey(null, 1, m -> m));
  }

  @Test
  void exceptionOfReceiveNamesNullArgument() {
    var texts = new CompletableFuture<List<String>>();
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> texts.complete(Stream.<Executable>of(
            () -> context.receive(null, SECOND), () -> context.receive(String.class, null, SECOND),
            () -> context.receive(String.class, null))
            .map(code -> assertThrows(NullPointerException.class, code).getMessage()).toList()));

    actor.sendMessage("go");

    assertEquals(List.of("type", "condition", "limit"), Patience.value(texts));
  }
}
