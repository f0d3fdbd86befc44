package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import org.junit.jupiter.api.Test;

/** Tests rare races of requests by calling the steps of the threads one by one. */
class RequestFutureFaultTest {

  @Test
  void cancelOfAnsweredRequestOfEndedActorDoesNotThrow() {
    var cell = (Cell) (Exitable) Scopes.root("fault", ActorScope.Options.defaults()).anonymous()
        .newActor((String m) -> {});
    var request = new RequestFuture<Object>(cell, "late", null);
    request.begin();
    request.markAnswered();
    ActorInternals.end(cell);

    assertDoesNotThrow(() -> request.cancel(false));
  }
}
