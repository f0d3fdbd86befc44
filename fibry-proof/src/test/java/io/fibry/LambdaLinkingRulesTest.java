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
 * Code that gives threads to actors, ends waits or ends actors must have no lambda that is linked
 * only when it is first needed. The JDK links a lambda by Java code, which needs memory. If no
 * memory is left, the JDK may record the failure, and then the lambda always fails. A retry that
 * needs such a lambda would never succeed.
 */
class LambdaLinkingRulesTest {
  /**
   * Methods that may have such lambdas: methods that users call, methods that create texts, and
   * methods that can continue if a lambda fails.
   */
  private static final Set<String> ALLOWED = Set.of(
      "cell/HandlerContext.receive", "cell/HandlerContext.replyWhen", // called by a handler, which gets the failure
      "cell/ExitSignal.publicFuture", // creates a future for a user
      "cell/PublicExitFuture.defaultExecutor", // creates a future for a user
      "cell/PublicExitFuture.notifyCallbacks", // notifies on the current thread if a lambda fails
      "cell/FailureHandler.restart", "cell/FailureHandler.report", // in simulations only
      "cell/Watches.watch", // called by a handler
      "jvm/GuaranteedStart.watch", // in simulations only
      "jvm/StackTraces.of", "jvm/MessageTexts.describeBounded", // texts
      "message/AnswerFuture.completeAsync", // called by a user
      "message/Deadline.awaitByClock", // with a clock that a test advances
      "message/RequestFuture.awaitResult", "message/RequestFuture.awaitCallbacks", // for a user that cancels
      "message/RequestFuture.cancelUnlessBegun", "message/WaitCycle.exception", "message/WaitCycle.failOneWait");

  /** A class that breaks the rule. */
  static final class RuleBreaker {
    static Supplier<String> linked(String text) {
      return () -> text;
    }
  }

  @Test
  void onlyListedEngineMethodsLinkLambdasOnFirstUse() throws IOException {
    var methods = new TreeSet<String>();
    for (var name : Set.of("cell", "jvm", "message")) {
      var folder = Path.of("..", "fibry-core", "target", "classes", "io", "fibry", "engine", name);
      try (var files = Files.list(folder)) {
        for (var file : files.filter(path -> path.toString().endsWith(".class")).toList())
          collect(new ClassReader(Files.readAllBytes(file)), methods);
      }
    }

    assertEquals(new TreeSet<>(ALLOWED), methods);
  }

  @Test
  void ruleFindsMethodThatLinksLambda() throws IOException {
    var methods = new TreeSet<String>();

    collect(new ClassReader(RuleBreaker.class.getName()), methods);

    assertTrue(methods.toString().contains("RuleBreaker.linked"), methods::toString);
  }

  /** Collects the methods that link lambdas, except constructors and class initializers. */
  private static void collect(ClassReader type, Set<String> methods) {
    String name = type.getClassName().replace("io/fibry/engine/", "");
    type.accept(new ClassVisitor(Opcodes.ASM9) {
      @Override
      public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
          String[] exceptions) {
        if (method.startsWith("<")) return null;
        return new MethodVisitor(Opcodes.ASM9) {
          @Override
          public void visitInvokeDynamicInsn(String interfaceMethod, String type, Handle bootstrap,
              Object... arguments) {
            if (bootstrap.getOwner().equals("java/lang/invoke/LambdaMetafactory")) methods.add(name + "." + method);
          }
        };
      }
    }, 0);
  }
}
