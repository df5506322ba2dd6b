# A package that was written for MarkupSafe 2.0 stands beside a newer one.
import htmlreport

print(htmlreport.cell("loss < 1"))
