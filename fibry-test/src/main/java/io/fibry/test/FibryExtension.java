package io.fibry.test;

import io.fibry.ActorScope;
import io.fibry.time.ManualClock;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * An extension for JUnit that gives each test a scope and its clock, and ends after the test what
 * is left in the scope. Immutable and thread-safe: tests may run side by side.
 * {@snippet class="io.fibry.test.SnippetsTest" region="extension"}
 *
 * <p>A test, its {@code @BeforeEach} and its {@code @AfterEach} methods may have parameters of type
 * {@link TestScope}, {@link ActorScope} (the same object) and {@link ManualClock} (the scope's).
 *
 * <p>Actors of the scope that are idle when the test is over are no leak, nor are those that end
 * after what waits for them: ending them is what the scope is for. One that has to be interrupted
 * is a leak, and so is one whose handler ignores that, on whatever thread: the test fails, and the
 * text says what each actor was at. What a test makes elsewhere, such as in the root scope, is not
 * seen.
 */
public final class FibryExtension implements ParameterResolver, AfterEachCallback {
  private static final ExtensionContext.Namespace OURS = ExtensionContext.Namespace.create(FibryExtension.class);

  private final UnaryOperator<ActorScope.Options> options;
  private final boolean refusesDeadLetters;

  /**
   * One whose scopes have actors on virtual threads, and that takes dead letters as they come; for
   * {@code @ExtendWith}.
   */
  public FibryExtension() {
    this(options -> options, false);
  }

  private FibryExtension(UnaryOperator<ActorScope.Options> options, boolean refusesDeadLetters) {
    this.options = options;
    this.refusesDeadLetters = refusesDeadLetters;
  }

  /**
   * One whose scopes have these options; for {@code @RegisterExtension}.
   *
   * @param options changes those of the root; the clock is always a manual one
   * @return a changed copy
   */
  public FibryExtension withOptions(UnaryOperator<ActorScope.Options> options) {
    return new FibryExtension(Objects.requireNonNull(options, "options"), refusesDeadLetters);
  }

  /**
   * One that fails a test which leaves dead letters, unless it has asked for them by
   * {@link TestScope#assertDeadLetter}; for {@code @RegisterExtension}.
   *
   * @return a changed copy
   */
  public FibryExtension withoutDeadLetters() {
    return new FibryExtension(options, true);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    var type = parameter.getParameter().getType();
    return type == TestScope.class || type == ActorScope.class || type == ManualClock.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    var scope = scope(test);
    return parameter.getParameter().getType() == ManualClock.class ? scope.clock() : scope;
  }

  private TestScope scope(ExtensionContext test) {
    if (test.getTestMethod().isEmpty()) throw new ParameterResolutionException(
        "a scope belongs to one test: ask for it in the test, in @BeforeEach or @AfterEach, not in a constructor, "
            + "@BeforeAll or @AfterAll");
    var ours = test.getStore(OURS);
    var made = ours.get(TestScope.class, TestScope.class);
    if (made != null) return made;
    var scope = TestScope.open(test.getDisplayName(), options);
    ours.put(TestScope.class, scope);
    return scope;
  }

  @Override
  public void afterEach(ExtensionContext test) {
    var scope = test.getStore(OURS).remove(TestScope.class, TestScope.class);
    if (scope == null) return;
    scope.close();
    if (refusesDeadLetters && test.getExecutionException().isEmpty()) scope.assertNoDeadLetters();
  }
}
