package io.fibry;

import static io.fibry.support.Patience.ended;
import static io.fibry.support.Patience.failure;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A resident actor that gets no thread, but is found by name before that is known. */
class ResidentFaultTest {
  private final ActorScope scope = Variants.scope(o -> o);
  private Actor<Question> found;
  private CompletableFuture<Integer> asked;

  private record Question() implements Request<Question, Integer> {}

  /** Fails to start a thread; first the actor is found and asked. */
  private final class Threadless implements Strategy {
    @Override
    public void activate(Runnable activation) {
      found = scope.find("threadless", Question.class).orElseThrow();
      asked = found.sendMessageReturn(new Question());
      throw new OutOfMemoryError("no native thread");
    }

    @Override
    public boolean isResident() {
      return true;
    }
  }

  @Test
  void requestToResidentActorWithoutThreadFails() {
    assertThrows(OutOfMemoryError.class, this::make);

    assertInstanceOf(ActorStoppedException.class, failure(asked));
  }

  @Test
  void residentActorWithoutThreadEnds() {
    assertThrows(OutOfMemoryError.class, this::make);

    ended(found::waitForExit);
  }

  @Test
  void nameOfResidentActorWithoutThreadIsFree() {
    assertThrows(OutOfMemoryError.class, this::make);

    assertTrue(scope.find("threadless", Question.class).isEmpty());
  }

  private void make() {
    scope.named("threadless").strategy(new Threadless()).protocol(Question.class).newActor((Question question) -> {});
  }
}
