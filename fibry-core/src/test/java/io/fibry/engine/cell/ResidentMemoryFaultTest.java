package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.actor.DefaultActorBuilder;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests an actor that keeps its thread, and for which the engine gets an OutOfMemoryError outside
 * of a handler. No other thread could run the actor, so its thread must survive.
 */
class ResidentMemoryFaultTest {

  /**
   * A scope that throws an OutOfMemoryError when it decides about a failure, and another one when
   * the engine then counts the messages that the drain has handled.
   */
  private static final class FullHeapScope extends OwningScope {
    private final OwningScope scope;
    private volatile boolean isFull; // written by the thread of the actor

    FullHeapScope(OwningScope scope) {
      this.scope = scope;
    }

    @Override
    public Decision decide(Object member, Exitable failed, Throwable failure) {
      isFull = true;
      throw new OutOfMemoryError("planned, in the decision");
    }

    @Override
    public Accounts accounts() {
      if (!isFull) return scope.accounts();
      isFull = false;
      throw new OutOfMemoryError("planned, in the accounts");
    }

    @Override
    protected String name() {
      return scope.name();
    }

    @Override
    public ActorScope scope() {
      return scope.scope();
    }

    @Override
    public OwningScope openBlockScope(String kind, String label) {
      return scope.openBlockScope(kind, label);
    }

    @Override
    public ActorScope.Options options() {
      return scope.options();
    }

    @Override
    public boolean isTracked(String label) {
      return false;
    }

    @Override
    public void admit(Exitable actor, String label) {}

    @Override
    protected void freeName(Exitable actor, String label) {}

    @Override
    protected void forget(Exitable actor, String label) {}
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  static Stream<Strategy> residentStrategies() {
    return Stream.of(Strategy.THREAD, Strategy.RESIDENT_FIBER);
  }

  @ParameterizedTest
  @MethodSource("residentStrategies")
  void residentThreadSurvivesOutOfMemoryError(Strategy strategy) {
    var gate = new Gate();
    var scope = new FullHeapScope((OwningScope) Variants.scope(o -> o));
    var actor = DefaultActorBuilder.of(scope).strategy(strategy).onFailure(FailurePolicy.escalate())
        .newActorWithReturn((Integer i) -> {
          gate.passUninterruptibly();
          return 10 / i;
        });
    actor.sendMessage(1); // counted when the drain is left
    actor.sendMessage(0); // fails in the same drain

    gate.open();

    assertEquals(5, Patience.value(actor.sendMessageReturn(2)));
    actor.close();
  }
}
