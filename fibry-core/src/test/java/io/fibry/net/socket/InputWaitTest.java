package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests when a conversation counts as waiting for its client. */
class InputWaitTest {
  private final CurrentStep.InputWait wait = new CurrentStep.InputWait();
  private final CountDownLatch wakeUp = new CountDownLatch(1);
  private Thread reader;

  @BeforeEach
  void startReader() {
    reader = Patience.startFiber(() -> Patience.await(wakeUp));
    Patience.eventually(() -> Patience.isParked(reader));
  }

  @AfterEach
  void endReader() {
    wakeUp.countDown();
    Patience.awaitEnd(reader);
  }

  private static Transport transport(int arrivedBytes) throws Exception {
    return new PlainTransport(new Socket() {
      @Override
      public InputStream getInputStream() {
        return new ByteArrayInputStream(new byte[arrivedBytes]);
      }

      @Override
      public OutputStream getOutputStream() {
        return OutputStream.nullOutputStream();
      }
    });
  }

  @Test
  void waitIsPendingFromBeginToEnd() throws Exception {
    assertFalse(wait.isPending());
    for (int i = 0; i < 2; i++) {
      wait.begin(reader, transport(0));
      assertTrue(wait.isPending());
      wait.end();
      assertFalse(wait.isPending());
      wait.end(); // the end of a read within an exchange
      assertFalse(wait.isPending());
    }
  }

  @Test
  void arrivedBytesEndWaitBeforeReaderWakes() throws Exception {
    wait.begin(reader, transport(1));

    assertFalse(wait.isPending());
  }

  @Test
  void wokenReaderHasEndedWait() throws Exception {
    wait.begin(reader, transport(0));
    wakeUp.countDown();
    Patience.awaitEnd(reader);

    assertFalse(wait.isPending());
  }

  @Test
  void noWaitIsPendingAfterCancel() throws Exception {
    wait.begin(reader, transport(0));
    wait.cancel();

    assertFalse(wait.isPending());
    wait.end();
    wait.begin(reader, transport(0));
    assertFalse(wait.isPending());
  }
}
