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
  void poolWithMaxWaitAnswersAndMailboxTextShowsLimits() {
    var shop = ActorSystem.openScope("shop", o -> o.withScheduler(new ManualScheduler()));
    // @start region="within"
    // messages wait at most 100 ms, at any rate
    var limitedWait = Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100));
    // a capacity of 31 messages
    var limitedQueue =
        Mailbox.bounded(Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(30), 133), Overflow.REJECT);

    var database =
        Pools.fixed(shop.anonymous().mailbox(limitedWait), 4).newActorWithReturn((String sql) -> sql.length());
    // an answer, or a MailboxFullException at once
    int rows = database.ask("delete from old", Duration.ofMillis(500));
    // @end

    assertEquals("15 rows, bounded(1000, REJECT) within 100 ms, bounded(31, REJECT)",
        rows + " rows, " + limitedWait + ", " + limitedQueue);
    shop.close();
  }
}
