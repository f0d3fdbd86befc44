package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the first use of the library by a thread whose stack is nearly full. The thread may get a
 * StackOverflowError, and the library must stay usable. Each first use needs classes that are not
 * initialized, so each has a class loader of its own, in a process that ends after the test.
 */
class FirstUseJvmTest {
  enum FirstCall {
    CREATE, CREATE_BOUNDED, CREATE_POOL, SCOPE
  }

  /** Makes first uses, and prints those after which the library is unusable. */
  static final class FirstUses {
    private static final int MAX_MARGIN = 480;
    private static final int MARGIN_STEP = Soak.ON ? 2 : 80;

    private FirstUses() {}

    public static void main(String[] args) throws Exception {
      for (int margin = 0; margin < MAX_MARGIN; margin += MARGIN_STEP) play(args[0], margin, true);
      play(args[0], Integer.MAX_VALUE, false);
      System.exit(0);
    }

    private static void play(String call, int margin, boolean mayOverflow) throws Exception {
      var urls = new ArrayList<URL>();
      for (String path : System.getProperty("java.class.path").split(File.pathSeparator))
        urls.add(Path.of(path).toUri().toURL());
      var loader = new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
      var firstUse = loader.loadClass(FirstUse.class.getName()).getConstructor(String.class, int.class)
          .newInstance(call, margin);
      String result = ((Callable<?>) firstUse).call().toString();
      if (!result.equals("completed") && !(mayOverflow && result.equals("overflowed")))
        System.out.println("with " + margin + " free levels: " + result);
    }
  }

  /** One first use, in its own class loader. */
  public static final class FirstUse implements Callable<String>, Runnable {
    private static final int STACK_BYTES = 300_000;

    private final FirstCall call;
    private final int margin; // levels of the stack that are free when the call is made
    private int maxLevel;
    private String result = "overflowed";

    public FirstUse(String call, int margin) {
      this.call = FirstCall.valueOf(call);
      this.margin = margin;
    }

    @Override
    public String call() throws Exception {
      Class.forName("io.fibry.ActorSystem"); // loads the class; it has no static initializer
      var thread = new Thread(null, this, "first-use", STACK_BYTES);
      thread.start();
      thread.join();
      try {
        checkUsable();
      } catch (Throwable unusable) {
        return "after the call " + result + ", " + unusable;
      }
      return result;
    }

    private static void checkUsable() {
      var handled = new CountDownLatch(1);
      try (var scope = ActorSystem.openScope("later")) {
        scope.named("receiver").newActor((Integer message) -> handled.countDown())
            .sendMessageLater(1, Duration.ofMillis(1));
        Patience.await(handled);
      }
      int answer = ActorSystem.anonymous().newActorWithReturn((Integer number) -> number + 1).ask(1);
      if (answer != 2) throw new IllegalStateException("answer " + answer);
      var bounded = ActorSystem.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK));
      int boundedAnswer = bounded.newActorWithReturn((Integer number) -> number + 1).ask(2);
      if (boundedAnswer != 3) throw new IllegalStateException("answer of the bounded actor " + boundedAnswer);
    }

    @Override
    public void run() {
      try {
        findMaxLevel(0);
      } catch (StackOverflowError expected) {
        // the overflow is intended
      }
      try {
        descend(0);
      } catch (StackOverflowError expected) {
        // the call overflows, unless it has the whole stack
      }
    }

    private void findMaxLevel(int level) {
      maxLevel = level;
      findMaxLevel(level + 1);
    }

    private void descend(int level) {
      if (level < (long) maxLevel - margin) descend(level + 1);
      else makeCall();
    }

    private void makeCall() {
      switch (call) {
        case CREATE -> ActorSystem.anonymous().newActor((Integer message) -> {}).sendMessage(1);
        case CREATE_BOUNDED -> ActorSystem.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
            .newActor((Integer message) -> {}).sendMessage(1);
        case CREATE_POOL -> Pools.fixed(ActorSystem.anonymous(), 2).newActor((Integer message) -> {}).sendMessage(1);
        case SCOPE -> ActorSystem.openScope("first").close();
      }
      result = "completed";
    }
  }

  @Promise("8.5")
  @ParameterizedTest
  @EnumSource
  void libraryIsUsableAfterStackOverflowInFirstCall(FirstCall call) throws Exception {
    try (var child = Child.java(List.of("-Dfibry.soak=" + Soak.ON), FirstUses.class, call.name())) {
      child.awaitExit(0);

      assertEquals("", child.output());
    }
  }
}
