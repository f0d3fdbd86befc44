package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Code that gives threads to actors, ends waits or ends actors has no lambda that is linked when it
 * is first needed. The JDK links a lambda in Java code; if there is no memory for that, it may note
 * the failure, and the lambda fails for ever. A retry of a retry then never comes.
 */
class LambdaLinkingRulesTest {
  /** Waits of the user, texts, and what has another way where it fails. */
  private static final Set<String> ALLOWED = Set.of(
      "cell/ActorBehavior$10.handle", // an answer that is a future
      "cell/HandlerContext.receive", "cell/HandlerContext.replyWhen", // called by a handler, whose failure it is
      "cell/ExitSignal.publicFuture", // makes a future for a user
      "cell/PublicExitFuture.defaultExecutor", // the same
      "cell/PublicExitFuture.notifyCallbacks", // tells on this thread, where it fails
      "cell/ColdState.hasDueTimer", "cell/ColdState.stashedCount", // figures
      "cell/FailureHandler.restart", "cell/FailureHandler.report", // in simulations only
      "cell/Watches.watch", // called by a handler
      "jvm/GuaranteedStart.watch", // in simulations only
      "jvm/DaemonThreads.unstarted", "jvm/EngineThreads.starter", // called by initializers
      "jvm/StackTraces.of", "jvm/MessageTexts.describeBounded", // texts
      "message/AnswerFuture.completeAsync", // called by a user
      "message/Deadline.awaitByClock", // by a clock that a test moves
      "message/RequestFuture.awaitResult", "message/RequestFuture.awaitCallbacks", // for a user that cancels
      "message/RequestFuture.cancelUnlessBegun", "message/WaitCycle.exception", "message/WaitCycle.failOneWait");

  /** Breaks the rule. */
  static final class Late {
    static Supplier<String> linked(String text) {
      return () -> text;
    }
  }

  @Test
  void nothingIsLinkedWhenItIsFirstNeeded() throws IOException {
    var found = new TreeSet<String>();
    for (var part : Set.of("cell", "jvm", "message")) {
      var folder = Path.of("..", "fibry-core", "target", "classes", "io", "fibry", "engine", part);
      try (var files = Files.list(folder)) {
        for (var file : files.filter(one -> one.toString().endsWith(".class")).toList())
          collect(new ClassReader(Files.readAllBytes(file)), found);
      }
    }

    assertEquals(new TreeSet<>(ALLOWED), found);
  }

  @Test
  void lambdaIsFound() throws IOException {
    var found = new TreeSet<String>();

    collect(new ClassReader(Late.class.getName()), found);

    assertTrue(found.toString().contains("Late.linked"), found::toString);
  }

  /** Those outside of initializers. */
  private static void collect(ClassReader type, Set<String> found) {
    String name = type.getClassName().replace("io/fibry/engine/", "");
    type.accept(new ClassVisitor(Opcodes.ASM9) {
      @Override
      public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
          String[] exceptions) {
        if (method.startsWith("<")) return null;
        return new MethodVisitor(Opcodes.ASM9) {
          @Override
          public void visitInvokeDynamicInsn(String called, String type, Handle bootstrap, Object... arguments) {
            if (bootstrap.getOwner().equals("java/lang/invoke/LambdaMetafactory")) found.add(name + "." + method);
          }
        };
      }
    }, 0);
  }
}
