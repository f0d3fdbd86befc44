package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.support.Patience;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.SmartLifecycle;

/** Tests that a scope closes with its context. */
@ExtendWith(OutputCaptureExtension.class)
class ScopeClosingTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class));
  private final AtomicReference<ActorScope> scope = new AtomicReference<>();

  @Test
  void pendingMessagesAreHandledBeforeContextEnds(CapturedOutput output) {
    var gate = new Gate();
    var runnerWithLongLimit = runner.withPropertyValues("fibry.drain-limit=" + Patience.LONG);

    runnerWithLongLimit.withBean(OpensBefore.class, () -> new OpensBefore(gate)).run(context -> {
      scope.set(context.getBean(ActorScope.class));
      var actor = scope.get().named("worker").newActor((Integer n) -> {
        if (n == 0) gate.pass();
      });
      for (int i = 0; i <= 100; i++) actor.sendMessage(i);
      gate.awaitEntered();
    });

    assertEquals(101, scope.get().report().handled());
    assertEquals(0, scope.get().report().queued());
    assertTrue(output.getAll().contains("scope 'application' closed: 101 messages handled"), output::getAll);
  }

  /** A bean that opens the gate just before the scope closes, while all messages still wait. */
  record OpensBefore(Gate gate) implements SmartLifecycle {
    @Override
    public void start() {}

    @Override
    public void stop() {
      gate.open();
    }

    @Override
    public boolean isRunning() {
      return true;
    }

    @Override
    public int getPhase() {
      return ContextShutdown.ACTORS + 1;
    }
  }

  @Test
  void handlerBeyondDrainLimitIsInterruptedAndLogged(CapturedOutput output) {
    var gate = new Gate();

    runner.withPropertyValues("fibry.drain-limit=50ms", "fibry.kill-grace=" + Patience.LONG).run(context -> {
      scope.set(context.getBean(ActorScope.class));
      var actor = scope.get().named("stubborn").newActor((Integer n) -> gate.pass());
      actor.sendMessage(1);
      actor.sendMessage(2);
      gate.awaitEntered();
    });

    assertEquals(0, scope.get().report().queued());
    assertTrue(output.getAll().contains("scope 'application' closed and left "), output::getAll);
    assertTrue(output.getAll().contains("dead letter to 'stubborn'"), output::getAll);
  }

  @Test
  void scopeStaysOpenWhenContextStopsAndStartsAgain(CapturedOutput output) {
    runner.run(context -> {
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((Integer n) -> n + 1);

      context.stop();
      context.start();

      assertEquals(2, actor.ask(1));
      context.stop();
    });

    assertTrue(output.getAll().contains("scope 'application' closed: 1 message handled"), output::getAll);
  }
}
