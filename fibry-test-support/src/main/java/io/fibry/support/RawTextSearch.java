package io.fibry.support;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.tools.Diagnostic;
import javax.tools.ToolProvider;

/** Compiles sources, and finds each expression whose raw text becomes a part of another text. */
final class RawTextSearch {
  private static final Set<String> SAFE_CLASSES = Set.of("io.fibry.text.Lines", "io.fibry.engine.jvm.MessageTexts");
  private static final Set<String> SAFE_METHODS = Set.of("shown", "asked", "describe", "describeRequest");

  /**
   * Names of JDK types, or prefixes of such names. The texts of these types have one line and
   * reveal no message.
   */
  private static final List<String> PLAIN_TYPES = List.of("java.lang.Boolean", "java.lang.Byte", "java.lang.Short",
      "java.lang.Character", "java.lang.Integer", "java.lang.Long", "java.lang.Float", "java.lang.Double",
      "java.lang.String", "java.lang.Class", "java.lang.Thread", "java.lang.StackTraceElement", "java.lang.Void",
      "java.lang.reflect.", "java.math.", "java.net.Inet", "java.net.ServerSocket", "java.net.URI",
      "java.nio.CharBuffer",
      "java.nio.file.Path", "java.time.", "java.util.Locale", "java.util.UUID", "java.util.regex.Pattern",
      "java.util.concurrent.atomic.");

  /**
   * The code of the error for a sealed type that permits a type of another package. It is an error
   * only outside of a module, and the sources are compiled here without their module.
   */
  private static final String SEALED_ACROSS_PACKAGES =
      "compiler.err.class.in.unnamed.module.cant.extend.sealed.in.diff.package";

  private RawTextSearch() {}

  static Set<String> in(Path sources) throws IOException {
    var compiler = ToolProvider.getSystemJavaCompiler();
    List<Path> files;
    try (var paths = Files.walk(sources)) {
      files = paths.filter(file -> file.toString().endsWith(".java") && !file.endsWith("module-info.java")).toList();
    }
    var errors = new ArrayList<String>();
    var findings = new TreeSet<String>();
    try (var manager = compiler.getStandardFileManager(null, null, null)) {
      var task = (JavacTask) compiler.getTask(null, manager, diagnostic -> {
        if (diagnostic.getKind() == Diagnostic.Kind.ERROR && !SEALED_ACROSS_PACKAGES.equals(diagnostic.getCode()))
          errors.add(diagnostic.toString());
      }, List.of("-proc:none", "-implicit:none", "-cp", System.getProperty("java.class.path")), null,
          manager.getJavaFileObjectsFromPaths(files));
      var units = task.parse();
      task.analyze();
      for (var unit : units) if (!isSafe(unit)) new TextScan(unit, Trees.instance(task), findings).scan(unit, null);
    }
    if (!errors.isEmpty()) throw new IllegalArgumentException("the sources do not compile: " + errors);
    return findings;
  }

  private static boolean isSafe(CompilationUnitTree unit) {
    String file = unit.getSourceFile().getName();
    return SAFE_CLASSES.stream().anyMatch(name -> file.endsWith(name.replace('.', '/') + ".java"));
  }

  private static final class TextScan extends TreePathScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final Trees trees;
    private final Set<String> findings;

    TextScan(CompilationUnitTree unit, Trees trees, Set<String> findings) {
      this.unit = unit;
      this.trees = trees;
      this.findings = findings;
    }

    @Override
    public Void visitBinary(BinaryTree tree, Void unused) {
      if (tree.getKind() == Tree.Kind.PLUS && isString(trees.getTypeMirror(getCurrentPath()))) {
        check(tree.getLeftOperand());
        check(tree.getRightOperand());
      }
      return super.visitBinary(tree, unused);
    }

    @Override
    public Void visitCompoundAssignment(CompoundAssignmentTree tree, Void unused) {
      if (isString(trees.getTypeMirror(getCurrentPath()))) check(tree.getExpression());
      return super.visitCompoundAssignment(tree, unused);
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void unused) {
      if (trees.getElement(getCurrentPath()) instanceof ExecutableElement method) {
        if (isSafe(method)) return null;
        String owner = method.getEnclosingElement().toString();
        String name = method.getSimpleName().toString();
        var arguments = call.getArguments();
        switch (owner) {
          case "org.slf4j.Logger" -> checkLogCall(arguments);
          case "java.lang.String" -> {
            if (Set.of("format", "formatted", "valueOf", "join").contains(name)) arguments.forEach(this::check);
          }
          case "java.lang.StringBuilder", "java.util.Objects" -> {
            if (Set.of("append", "insert", "toString").contains(name)) arguments.forEach(this::check);
          }
          default -> {}
        }
        if (arguments.isEmpty() && Set.of("toString", "getMessage", "getLocalizedMessage").contains(name)
            && call.getMethodSelect() instanceof MemberSelectTree selected
            && !(getCurrentPath().getParentPath().getLeaf() instanceof ExpressionStatementTree))
          check(selected.getExpression());
      }
      return super.visitMethodInvocation(call, unused);
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree reference, Void unused) {
      if (Set.of("toString", "valueOf", "getMessage").contains(reference.getName().toString())
          && trees.getElement(getCurrentPath()) instanceof ExecutableElement method
          && Set.of("java.lang.Object", "java.lang.String", "java.lang.Throwable", "java.util.Objects")
              .contains(method.getEnclosingElement().toString())
          && isString(method.getReturnType()))
        addFinding(reference);
      return super.visitMemberReference(reference, unused);
    }

    /** Checks the arguments of a log call, except an exception that is logged with its stack. */
    private void checkLogCall(List<? extends ExpressionTree> arguments) {
      for (int i = 0; i < arguments.size(); i++) {
        boolean isLoggedWithStack = i == arguments.size() - 1 && isThrowable(typeOf(arguments.get(i)))
            && countPlaceholders(arguments.getFirst()) < arguments.size() - 1;
        if (!isLoggedWithStack) check(arguments.get(i));
      }
    }

    private static int countPlaceholders(ExpressionTree format) {
      int count = 0;
      String text = format.toString();
      for (int i = text.indexOf("{}"); i >= 0; i = text.indexOf("{}", i + 2)) count++;
      return count;
    }

    private void check(ExpressionTree expression) {
      switch (expression) {
        case ParenthesizedTree inner -> check(inner.getExpression());
        case ConditionalExpressionTree choice -> {
          check(choice.getTrueExpression());
          check(choice.getFalseExpression());
        }
        case LiteralTree literal -> {}
        case BinaryTree sum -> {} // checked by visitBinary
        default -> {
          if (!isPlain(typeOf(expression))) addFinding(expression);
        }
      }
    }

    private void addFinding(ExpressionTree expression) {
      findings.add(Path.of(unit.getSourceFile().toUri()).getFileName() + ": " + expression);
    }

    private TypeMirror typeOf(ExpressionTree expression) {
      return trees.getTypeMirror(new TreePath(getCurrentPath(), expression));
    }

    private static boolean isSafe(ExecutableElement method) {
      return SAFE_CLASSES.contains(method.getEnclosingElement().toString())
          || SAFE_METHODS.contains(method.getSimpleName().toString());
    }

    private static boolean isString(TypeMirror type) {
      return type != null && type.toString().endsWith("String");
    }

    private boolean isThrowable(TypeMirror type) {
      for (var current = type; current instanceof DeclaredType declared; current = superclass(declared))
        if (declared.asElement().toString().equals("java.lang.Throwable")) return true;
      return false;
    }

    private static TypeMirror superclass(DeclaredType type) {
      return ((TypeElement) type.asElement()).getSuperclass();
    }

    private boolean isPlain(TypeMirror type) {
      if (type.getKind().isPrimitive() || type.getKind() == TypeKind.NULL) return true;
      if (type instanceof ArrayType array) return isPlain(array.getComponentType());
      if (!(type instanceof DeclaredType declared)) return false;
      var element = (TypeElement) declared.asElement();
      String name = element.getQualifiedName().toString();
      if (name.equals("java.time.Duration")) return false; // its text is PT0.3S; Durations.text writes 300 ms
      if (element.getKind() == ElementKind.ENUM || PLAIN_TYPES.stream().anyMatch(name::startsWith)) return true;
      if (isThrowable(type)) return false;
      if (name.startsWith("java.util.")) return !declared.getTypeArguments().isEmpty()
          && declared.getTypeArguments().stream().allMatch(this::isPlain);
      return name.startsWith("io.fibry.") && (element.getKind() != ElementKind.RECORD || isPlainRecord(element));
    }

    /** Returns whether the record has a toString of its own, or all its components are plain. */
    private boolean isPlainRecord(TypeElement element) {
      return element.getEnclosedElements().stream().anyMatch(
          member -> member instanceof ExecutableElement method && method.getSimpleName().contentEquals("toString")
              && method.getParameters().isEmpty() && trees.getTree(method) != null)
          || element.getRecordComponents().stream().allMatch(component -> isPlain(component.asType()));
    }
  }
}
