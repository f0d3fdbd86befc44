package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OverloadSnippetsTest {
  @Test
  void within() {
    var shop = ActorSystem.openScope("shop", o -> o.withScheduler(new ManualScheduler()));
    // @start region="within"
    // at any rate
    var timely = Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100));
    // 31 may wait
    var sized =
        Mailbox.bounded(Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(30), 133), Overflow.REJECT);

    var database =
        Pools.fixed(shop.anonymous().mailbox(timely), 4).newActorWithReturn((String sql) -> sql.length());
    // an answer, or a MailboxFullException at once
    int rows = database.ask("delete from old", Duration.ofMillis(500));
    // @end

    assertEquals("15 rows, bounded(1000, REJECT) within 100 ms, bounded(31, REJECT)",
        rows + " rows, " + timely + ", " + sized);
    shop.close();
  }
}
