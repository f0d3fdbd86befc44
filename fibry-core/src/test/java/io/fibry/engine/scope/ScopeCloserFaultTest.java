package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.engine.message.Deadline;
import io.fibry.support.Patience;
import io.fibry.testing.Variants;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScopeCloserFaultTest {

  @Test
  void scopeKeepsNoDeadLettersIfMembersEndBeforeCloserRuns() {
    var outerScope = Variants.scope(o -> o);
    var scope = (Scope) outerScope.openScope("brief");
    var actor = scope.anonymous().newActor((Object m) -> {});
    scope.refuseNewMembers();
    var closer = new ScopeCloser(scope);
    assertSame(closer, scope.claim(closer));
    actor.askExit();
    Patience.eventually(() -> !Scopes.members(outerScope).contains(scope));

    closer.run(Deadline.NO_WAIT);

    for (int i = 0; i < 10; i++) actor.sendMessage(i);
    assertEquals(List.of(), scope.accounts().lettersOfClose());
  }
}
