package io.fibry.nats.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoreSubjectsTest {
  private static final StoreSubjects SUBJECTS = new StoreSubjects("shop");

  @Test
  void keyWithSpecialCharactersIsParsedFromSubject() {
    var actor = new Store.ActorId("cart", "a.b=ü >");

    for (var subject : List.of(SUBJECTS.turns(actor), SUBJECTS.snapshot(actor), SUBJECTS.message(actor, "m.1"))) {
      assertEquals(actor, StoreSubjects.actorId(subject));
      assertTrue(SUBJECTS.isOfOneActor(subject), subject);
    }
    assertEquals("m.1", StoreSubjects.messageId(SUBJECTS.message(actor, "m.1")));
  }

  @Test
  void subjectWithInvalidEscapeBelongsToNoActor() {
    for (var key : List.of("=zz", "a=4", "a=", "=61", "=FF", "=e4"))
      assertFalse(SUBJECTS.isOfOneActor("fb.shop.j.cart." + key), key);
  }
}
