package io.fibry.engine.cell;

import static io.fibry.support.Patience.awaitEnd;
import static io.fibry.support.Patience.failure;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.testing.Variants;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests a resident actor that is found by name before its strategy fails to start a thread. */
class ResidentFaultTest {
  private final ActorScope scope = Variants.scope(o -> o);
  private Actor<Question> actor;
  private CompletableFuture<Integer> answer;

  private record Question() implements Request<Question, Integer> {}

  /**
   * A strategy that finds its actor by name, sends the actor a request, and then fails to start a
   * thread.
   */
  private final class ThreadlessStrategy implements Strategy {
    @Override
    public void activate(Runnable activation) {
      actor = scope.find("threadless", Question.class).orElseThrow();
      answer = actor.sendMessageReturn(new Question());
      throw new OutOfMemoryError("no native thread");
    }

    @Override
    public boolean isResident() {
      return true;
    }
  }

  @Test
  void requestToResidentActorFailsIfItsThreadCannotStart() {
    assertThrows(OutOfMemoryError.class, this::createActor);

    assertInstanceOf(ActorStoppedException.class, failure(answer));
  }

  @Test
  void residentActorEndsIfItsThreadCannotStart() {
    assertThrows(OutOfMemoryError.class, this::createActor);

    awaitEnd(actor::waitForExit);
  }

  @Test
  void nameOfResidentActorIsFreeIfItsThreadCannotStart() {
    assertThrows(OutOfMemoryError.class, this::createActor);

    assertTrue(scope.find("threadless", Question.class).isEmpty());
  }

  private void createActor() {
    scope.named("threadless").strategy(new ThreadlessStrategy()).protocol(Question.class)
        .newActor((Question question) -> {});
  }
}
