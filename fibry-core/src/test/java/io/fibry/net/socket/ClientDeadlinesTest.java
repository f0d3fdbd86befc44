package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.lang.reflect.Proxy;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests when a check of the limits spares a client whose deadline is over. */
class ClientDeadlinesTest {
  private static final long DEADLINE = 10;

  private BooleanSupplier hasUnread = () -> false;
  private final ClientDeadlines deadlines = new ClientDeadlines(transport());
  private volatile boolean hasEnded;
  private Thread parked;

  private Transport transport() {
    return (Transport) Proxy.newProxyInstance(Transport.class.getClassLoader(), new Class<?>[] {Transport.class},
        (proxy, method, arguments) -> {
          if (!method.getName().equals("hasUnreadInSocket")) throw new UnsupportedOperationException(method.getName());
          return hasUnread.getAsBoolean();
        });
  }

  @BeforeEach
  void parkThread() {
    parked = Patience.startFiber(() -> {
      while (!hasEnded) LockSupport.park(this);
    });
    Patience.awaitParked(parked);
  }

  @AfterEach
  void endThread() {
    hasEnded = true;
    LockSupport.unpark(parked);
    Patience.awaitEnd(parked);
  }

  @Promise("25.3")
  @Test
  void readOfParkedThreadIsTooLateAtDeadline() {
    deadlines.beginRead(parked, DEADLINE);

    assertFalse(deadlines.isReadTooLate(DEADLINE - 1));
    assertTrue(deadlines.isReadTooLate(DEADLINE));
  }

  /** The thread may have taken the bytes, and not cleared the deadline yet. */
  @Promise("25.3")
  @Test
  void firstCheckSparesClientWhoseReaderRuns() {
    deadlines.beginRead(Thread.currentThread(), DEADLINE);

    assertFalse(deadlines.isReadTooLate(DEADLINE));
    assertTrue(deadlines.isReadTooLate(DEADLINE + 1));
  }

  @Test
  void firstCheckSparesClientWhoseBytesHaveArrived() {
    hasUnread = () -> true;
    deadlines.beginRead(parked, DEADLINE);

    assertFalse(deadlines.isReadTooLate(DEADLINE));
    assertTrue(deadlines.isReadTooLate(DEADLINE + 1));
  }

  @Test
  void eachReadIsSparedOnce() {
    for (long deadline = DEADLINE; deadline < 3 * DEADLINE; deadline++) {
      deadlines.beginRead(Thread.currentThread(), deadline);
      assertFalse(deadlines.isReadTooLate(3 * DEADLINE));
      deadlines.endRead();
      assertFalse(deadlines.isReadTooLate(3 * DEADLINE));
    }
  }

  /** The reader takes the bytes, and parks for something else, while the check runs. */
  @Test
  void readThatEndsDuringCheckIsNotTooLate() {
    hasUnread = () -> {
      deadlines.endRead();
      return false;
    };
    deadlines.beginRead(parked, DEADLINE);

    assertFalse(deadlines.isReadTooLate(DEADLINE));
  }

  @Test
  void firstCheckSparesForwardedClientBeforeItsFirstRead() {
    deadlines.renewIdle(DEADLINE);

    assertFalse(deadlines.isIdleTooLong(DEADLINE));
    assertTrue(deadlines.isIdleTooLong(DEADLINE));
  }

  @Promise("25.3")
  @Test
  void firstCheckSparesClientWhoseWriterRuns() {
    deadlines.beginWrite(DEADLINE);

    assertFalse(deadlines.isWriteTooLate(DEADLINE - 1));
    assertFalse(deadlines.isWriteTooLate(DEADLINE));
    assertTrue(deadlines.isWriteTooLate(DEADLINE));

    deadlines.endWrite();
    assertFalse(deadlines.isWriteTooLate(DEADLINE));
  }

  @Test
  void writeOfParkedThreadIsTooLateAtDeadline() {
    var writer = Patience.startFiber(() -> {
      deadlines.beginWrite(DEADLINE);
      while (!hasEnded) LockSupport.park(this);
    });
    Patience.awaitParked(writer);

    assertTrue(deadlines.isWriteTooLate(DEADLINE));

    hasEnded = true;
    LockSupport.unpark(writer);
    Patience.awaitEnd(writer);
  }
}
