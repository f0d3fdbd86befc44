package io.fibry;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.scope.Scope;
import org.junit.jupiter.api.Test;

/** Requests in races that hardly ever happen, played step by step. */
class RequestFaultTest {

  @Test
  void aRequestThatExpiresWhileItIsAnsweredMayFindTheActorEnded() {
    var cell = (ActorCell) (Exitable) new Scope("fault", ActorScope.Options.DEFAULT, null).anonymous()
        .newActor((String m) -> {});
    var asked = new RequestFuture<Object>(cell, "late");
    asked.begin();
    asked.answer();
    cell.rich().end();

    assertDoesNotThrow(() -> asked.cancel(false));
  }
}
